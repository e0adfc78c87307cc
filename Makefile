# The commands of the project; .ci/run uses the same ones. BIN is where the tools are.
BIN ?= .venv/bin/
PYTHON ?= python3

UPGRADE ?= --upgrade
SECONDS ?= 600

.PHONY: install weights test test-slow test-stores lint licenses lock fuzz format schema smoke agents bundle screenshots bench scale

install:  ## a virtual environment with everything that the tests need
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q --require-hashes -r requirements.lock
	.venv/bin/pip install -q --no-deps --no-build-isolation -e .

weights:  ## the model's weights, for the tests that need them (84 MB; they skip without)
	$(BIN)helix-graph model install

test:  ## what runs every day
	$(BIN)pytest -q -n 2

test-slow:  ## what takes longer, and every property on its usual number of examples
	$(BIN)pytest -q -n 2 -m "slow or hypothesis" --hypothesis-profile=thorough

test-stores:  ## the suites of stores once more, slow ones too, with PostgreSQL as the place where the memory is kept
	$(BIN)pytest -q -n 2 --stores=postgresql
	$(BIN)pytest -q -n 2 --stores=postgresql -m slow

lint:
	$(BIN)ruff check .
	$(BIN)ruff format --check .
	$(BIN)mypy
	$(BIN)pyright --pythonpath $(BIN)python
	$(BIN)lint-imports

licenses:  ## whether every installed package has a licence that pyproject.toml allows
	$(BIN)pip-licenses --from=mixed >/dev/null

lock:  ## the newest versions of all that is installed, with their hashes; `make lock UPGRADE=` keeps the versions
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q uv
	build/lock/bin/uv pip compile -q --universal --python-version 3.11 --extra dev --generate-hashes --no-annotate \
	    --custom-compile-command "make lock" $(UPGRADE) -o requirements.lock pyproject.toml

fuzz:  ## random inputs for SECONDS a fuzzer; what fails is printed with the seed that makes it again
	FUZZ_SECONDS=$(SECONDS) $(BIN)pytest -q -m fuzz tests/fuzz

format:
	$(BIN)ruff check --fix .
	$(BIN)ruff format .

schema:  ## after a change to a database's tables: what may be in them
	PYTHONPATH=tests/helpers $(BIN)python tests/test_schema_digests.py

smoke:  ## the built wheel, in an environment of its own without any tool of ours
	PYTHON=$(PYTHON) BIN=$(BIN) .ci/smoke

bundle:  ## the server as a bundle (.mcpb) for desktop programs, in dist/
	$(BIN)python -m build -q --wheel --outdir dist .
	$(BIN)python packaging/bundle.py dist/helix_graph-*.whl dist

site:  ## the documentation as a site in build/site, with every link checked; it needs no network to be read
	NO_MKDOCS_2_WARNING=1 $(BIN)mkdocs build --strict -q

agents:  ## the five coding agents themselves, from npm, with a scripted model; needs ../shared/agents-harness
	BIN=$(BIN) .ci/agents $(CLIENTS)

screenshots:  ## the pictures of the documentation, and every tab in build/screenshots to look at
	PYTHONPATH=tests/helpers $(BIN)python benchmarks/pictures.py
	PYTHONPATH=tests/helpers $(BIN)python benchmarks/pictures.py --all build/screenshots

scale:  ## a company's sessions by every engine, and how that grows: half an hour; Spark where it is installed
	$(BIN)python benchmarks/company.py --million

bench:  ## needs the corpora in ../shared; not the sealed set, which its keeper runs
	for script in $$(ls benchmarks/*.py | grep -v /company) $$(ls benchmarks/*/__main__.py | grep -v /sealed/); do [ ! -e "$$script" ] || $(BIN)python "$$script" || exit 1; done
