"""What the secrets of known services look like: a prefix of the service's own, or a shape that nothing else has.

The tables hold a row a service: the kind that the mark names, the plain strings of which one must occur, and the
pattern. Formats are facts that the services publish or that their keys show; where a prefix alone is short or common,
what follows it must look random. Private keys have their frames: whole, cut at either end, in base64 as a whole, and in
the form of PuTTY.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import (
    WORD_START,
    Cut,
    SecretRule,
    compiled_pattern,
    make_cut,
    mentions,
    rules_of,
)
from helix_episodes.redaction.value_looks import (
    has_digit,
    has_digit_or_both_cases,
    is_drawn,
    is_made_of_words,
    is_of_all_letters,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from helix_episodes.redaction.rule_matching import SiftedText


# How a service's keys of several kinds begin.
_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")
_GITLAB = ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-")
_SHOPIFY = ("shpat_", "shpca_", "shppa_", "shpss_")
_SLACK = ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-")

# Keys that a service begins with letters of its own; each must hold a digit besides.
_PREFIXED = (
    ("twilio-key", ("SK…[0-9a-f]{32}", "AC…[0-9a-f]{32}"), r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailgun-key", ("key-",), r"(?<![_-])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("figma-token", ("figd_", "figo_", "figu_"), r"fig[dou]_[A-Za-z0-9_-]{20,255}"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,255}"),
    ("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{20,255}"),
    ("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,80}"),
    ("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{20,255}"),
    ("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{20,500}"),
    ("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{20,80}"),
    ("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{20,80}"),
    ("grafana-token", ("glsa_", "glc_"), r"gl(?:sa|c)_[A-Za-z0-9_+/=]{20,500}"),
    ("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{20,40}-[0-9a-f]{20,50}"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{20,100}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,80}"),
    ("supabase-token", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,80})"),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,80}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[0-9a-f]{48}(?![A-Za-z0-9])"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=-]{40,500}"),
    ("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{30,80}"),
)

# Keys of which the end was cut off with the text: the beginning of one is enough where nothing else begins so.
_CLIPPED = (
    ("github-token", _GITHUB, r"(?:gh[pousr]_[A-Za-z0-9]{6,29}|github_pat_[A-Za-z0-9_]{6,21})"),
    ("gitlab-token", _GITLAB, r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{6,19}"),
    ("slack-token", _SLACK, r"xox[abeoprs]-[A-Za-z0-9-]{6,9}"),
    ("stripe-key", ("_live_", "_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{6,15}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{6,15}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-"), r"sk-(?:proj|svcacct)-[A-Za-z0-9_-]{6,14}"),
    ("aws-key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{6,15}"),
    ("google-key", ("AIza", "GOCSPX-"), r"(?:AIza[A-Za-z0-9_-]{6,34}|GOCSPX-[A-Za-z0-9_-]{6,19})"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{8,35}"),
    ("pypi-token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{6,46}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{8,29}"),
    ("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{8,80}(?:\.[A-Za-z0-9_-]{0,29})?"),
    ("docker-token", ("dckr_pat_",), r"dckr_pat_[A-Za-z0-9_-]{6,19}"),
    ("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{8,19}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{6,63}"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{6,31}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{8,39}"),
    ("linear-key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{6,29}"),
    ("jwt", ("eyJ",), r"eyJ(?:hbGci|0eXAi)[A-Za-z0-9_-]{4,512}(?:\.[A-Za-z0-9_-]{0,8192})?"),
)
_CUT_OFF = r"(?=\u2026|\.{3}|\Z)"

# Tokens that nothing but a token begins like.
_BEGUN = (
    ("github-token", _GITHUB, r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})"),
    ("gitlab-token", _GITLAB, r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{20,255}(?:\.[0-9a-z]{2,9}){0,2}"),
    ("stripe-key", ("_live_", "_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,255}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    ("google-key", ("AIza", "GOCSPX-"), r"(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,80})"),
    ("google-key", ("ya29.",), r"ya29\.[A-Za-z0-9_.-]{20,1000}"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36,80}"),
    ("pypi-token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,500}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{30,80}"),
    ("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{30,80}"),
    ("linear-key", ("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{64}"),
    ("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{20,300}"),
    ("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,512}\.[A-Za-z0-9_-]{16,8192}(?:\.[A-Za-z0-9_-]{4,8192}){0,3}"),
    ("kubernetes-token", ("base64url.bearer.",), r"base64url\.bearer\.authorization\.k8s\.io\.[A-Za-z0-9_.-]{20,4096}"),
    ("paseto", (".local.", ".public."), r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{30,4096}(?:\.[A-Za-z0-9_-]{4,512})?"),
    ("slack-token", ("xoxd-", "xoxc-"), r"xox[cd]-[A-Za-z0-9%+/=-]{20,500}"),
    ("age-key", ("AGE-PLUGIN-",), r"AGE-PLUGIN-[A-Z0-9]{2,30}-1[A-Z0-9]{20,120}"),
    ("onesignal-key", ("os_v2_",), r"os_v2_(?:app|org)_[a-zA-Z0-9]{60,140}"),
    ("clickup-token", ("pk_",), r"pk_\d{5,12}_[A-Z0-9]{28,40}"),
    ("ebay-key", ("PRD-", "SBX-"), r"(?:PRD|SBX)-[0-9a-f]{12}(?:-[0-9a-f]{4}){4}"),
    ("defined-key", ("dnkey-",), r"dnkey-[A-Z0-9-]{40,120}"),
    ("elastic-token", ("essu_",), r"essu_[A-Za-z0-9+/=_-]{40,200}"),
    ("tiktok-token", ("act.",), r"act\.[A-Za-z0-9]{40,120}(?:!\d{1,6}\.[a-z0-9]{2})?"),
    ("configcat-key", ("configcat-sdk-",), r"configcat-sdk-\d/[A-Za-z0-9_/-]{30,60}"),
    ("flagsmith-key", ("ser.",), r"ser\.[A-Za-z0-9]{22}(?![A-Za-z0-9])"),
    (
        "password-hash",
        ("SCRAM-SHA-",),
        r"SCRAM-SHA-\d{1,3}\$\d{1,7}:[A-Za-z0-9+/=]{8,60}\$[A-Za-z0-9+/=]{20,100}:[A-Za-z0-9+/=]{20,100}",
    ),
)

# Services of which one shape is enough: kind, plain strings (one must occur), pattern. Each match must look random.
_SERVICES = r"""
adafruit-key         aio_                       aio_[A-Za-z0-9]{28}
adyen-key            hmf…[A-Za-z0-9+/]{20}             AQE[A-Za-z0-9_-]{3}hmf[A-Za-z0-9][A-Za-z0-9+/=_-]{20,300}
wallet-key           prv…[1-9A-HJ-NP-Za-km-z]{40} [xyztuv]prv[1-9A-HJ-NP-Za-km-z]{80,120}
nostr-key            nsec1                      nsec1[a-z0-9]{50,70}
adobe-secret         p8e-                       p8e-[A-Za-z0-9_-]{32}(?![A-Za-z0-9])
authress-key sc_,ext_,scauth_,authress_ [a-z]{2,8}_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][\w.+/=-]{40,160}
clickhouse-key       4b1d…[A-Za-z0-9]{38}       4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])
gitlab-token         GR1348941                  GR1348941[A-Za-z0-9_-]{20,60}
jwt                  ZXlK…[A-Za-z0-9+/]{40}     ZXlK[A-Za-z0-9+/]{40,8192}={0,2}
airtable-token       .…[0-9a-f]{64}             pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
aiven-token          AVNS_,aivenv1_             (?:AVNS_[A-Za-z0-9_-]{15,60}|aivenv1_[A-Za-z0-9+/=]{40,300})
alibaba-key          LTAI                       LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])
tencent-key          AKID                       AKID[A-Za-z0-9]{28,40}(?![A-Za-z0-9])
aws-key ABSK,ABIA,ACCA,A3T (?:ABSK[A-Za-z0-9+/=]{40,300}|A(?:BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9]))
aws-key              amzn.mws.                  amzn\.mws\.[0-9a-f-]{36}
aws-key              bedrock-api-key-           bedrock-api-key-[A-Za-z0-9+/=_-]{40,2000}
artifactory-key      AKCp,cmVmdGtu              (?:AKCp[A-Za-z0-9]{50,90}|cmVmdGtu[A-Za-z0-9]{40,80})
atlassian-token      ATBB,BBDC-                 (?:ATBB[A-Za-z0-9]{24,80}|BBDC-[A-Za-z0-9+/=]{40,80})
asana-token          :…[0-9a-f]{32}(?![0-9a-z])            [0-2]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}(?![A-Za-z0-9])
apify-key            apify_                     apify_(?:api|proxy)_[A-Za-z0-9]{30,60}
axiom-token          xaat-,xapt-                xa[ap]t-[0-9a-f]{8}-[0-9a-f-]{27}
azure-devops-token   AZDO                       [A-Za-z0-9]{52,76}AZDO[A-Za-z0-9]{4}
azure-key            JQQJ99                     [A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,40}
azure-key APIM….{5}[AQgw]==,ACDb….{5}[AQgw]== [A-Za-z0-9+/]{76}(?:APIM|ACDb)[A-Za-z0-9+/]{5}[AQgw]==
azure-key +A…(?:St|Ba|MC).{5}[AQgw]== [A-Za-z0-9+/]{76}\+A(?:Ba|MC|St)[A-Za-z0-9+/]{5}[AQgw]==
azure-key Az…(?:Fu|Se|Ca) [A-Za-z0-9_-]{42,48}Az(?:Fu|Se|Ca)[A-Za-z0-9_-]{5,8}(?:={1,2}|(?![A-Za-z0-9_+/-]))
braintree-token      access_token$              access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}
brevo-key            xkeysib-,xsmtpsib-         x(?:key|smtp)sib-[0-9a-f]{40,64}-[A-Za-z0-9]{16}
buildkite-token      bkua_,bkat_,bkaj_          bk(?:ua|at|aj)_[A-Za-z0-9]{30,60}
cerebras-key         csk-                       csk-[a-z0-9]{40,60}
circleci-token       CCIPAT_,CCIPRJ_            CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}
clojars-token        CLOJARS_                   CLOJARS_[a-z0-9]{60}
cloudflare-key       v1.0-                      v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160}
cloudflare-key       cfut_,cfat_,cfk_           cf(?:ut|at|k)_[A-Za-z0-9_-]{30,80}
contentful-token     CFPAT-                     CFPAT-[A-Za-z0-9_-]{40,50}
crates-token         cio…[A-Za-z0-9]{32}        cio[A-Za-z0-9]{32}(?![A-Za-z0-9])
cursor-key           _…[0-9a-f]{64}             (?:crsr|key)_[0-9a-f]{64}
context7-key         ctx7sk-                    ctx7sk-[0-9a-f-]{36}
deno-token           ddp_,ddo_,ddw_             dd[opw]_[A-Za-z0-9]{30,40}
docker-token         dckr_oat_                  dckr_oat_[A-Za-z0-9_-]{20,80}
dropbox-token        sl.…[A-Za-z0-9_.-]{60}     sl\.(?:[a-z]{1,2}\.)?[A-Za-z0-9_-]{60,2000}
duffel-token         duffel_                    duffel_(?:test|live)_[A-Za-z0-9_=-]{30,60}
dynatrace-token      .…[A-Z0-9]{24}\.[A-Z0-9]{64} dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}
easypost-key         EZAK                  EZ[AT]K[A-Za-z0-9]{50,60}
e2b-key              e2b_                       e2b_[0-9a-f]{40}
facebook-token       EAA…[A-Za-z0-9]{30}        EAA[A-Z][A-Za-z0-9]{30,400}(?![A-Za-z0-9_-])
facebook-token       |…[A-Za-z0-9_-]{27}        \d{13,17}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])
instagram-token      IGQV,IGAA                  IG(?:QV|AA)[A-Za-z0-9_-]{40,400}
fcm-key              APA91b                     (?:AAAA[A-Za-z0-9_-]{7}:)?APA91b[A-Za-z0-9_-]{60,300}
firecrawl-key        fc-…[0-9a-f]{32}           fc-[0-9a-f]{32}(?![A-Za-z0-9])
fireworks-key        fw_                        fw_[A-Za-z0-9]{22,30}(?![A-Za-z0-9_])
flutterwave-key      FLWSECK                    FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?
fly-token fo1_,fm1a_,fm1r_,fm2_ f[om][12][ar]?_[A-Za-z0-9+/=_-]{40,2000}(?:,fm[12][ar]?_[A-Za-z0-9+/=_-]{40,2000}){0,8}
frameio-token        fio-u-                     fio-u-[A-Za-z0-9_=-]{60,70}
gitlab-token         glimt-,glagent-,glffct-,gloas-,glwt-  gl(?:imt|agent|ffct|oas|wt)-[A-Za-z0-9_-]{20,255}
google-key           1//0                       1//0[A-Za-z0-9_-]{30,250}
google-key           AQ.Ab8                     AQ\.Ab8[A-Za-z0-9_-]{30,100}
grafana-token        eyJrIjoi                   eyJrIjoi[A-Za-z0-9+/=]{40,400}
harness-token        .…[A-Za-z0-9_-]{22}\.     [ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}
honeycomb-key        hcaik_,hcamk_,hcxik_       hc[ax][im]k_[A-Za-z0-9]{30,80}
hubspot-token        pat-…[en]                  pat-(?:na|eu)\d-[0-9a-f-]{36}
huggingface-token    api_org_                   api_org_[A-Za-z0-9]{30,40}
infracost-key        ico-                       ico-[A-Za-z0-9]{32}
infisical-token      st.…[0-9a-f]{8}            st\.[0-9a-f]{8,24}[.-][0-9a-f.-]{24,100}
inngest-key          signkey-                   signkey-[a-z]{2,12}-[0-9a-f]{32,64}
jina-key             jina_                      jina_[A-Za-z0-9_-]{40,80}
langfuse-key         sk-lf-                     sk-lf-[0-9a-f-]{36}
langsmith-key        lsv2_,ls__                 (?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32})
launchdarkly-key api-…[0-9a-f]{8}-,sdk-…[0-9a-f]{8}- (?:api|sdk)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
lob-key live_…[A-Za-z0-9]{30},test_…[A-Za-z0-9]{30} (?:live|test)_(?:[0-9a-f]{35}|[A-Za-z0-9]{30})(?![A-Za-z0-9])
gocardless-token     live_…[A-Za-z0-9_-]{40},box_ (?:live|sandbox)_[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])
mailchimp-key        -us…\d                     [0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])
mailgun-key          -…[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-]) [0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])
mapbox-token         sk.eyJ,tk.eyJ              [st]k\.eyJ[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{16,60}
maxmind-key          _mmk                       [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
mem0-key             m0-                        m0-[A-Za-z0-9]{40}
mongodb-token        mdb_sa_sk_                 mdb_sa_sk_[A-Za-z0-9_-]{30,60}
neon-key             napi_,npg_                 (?:napi_[a-z0-9]{40,80}|npg_[A-Za-z0-9]{10,24})
netlify-token        nfp_,nfc_,nfo_,nfu_,nfb_   nf[pcoub]_[A-Za-z0-9]{30,50}
newrelic-key         NRII-,NRJS-,NRAA-,NRRA-,NRSP-  NR(?:II|JS|AA|RA|SP)-[A-Za-z0-9_-]{16,60}
newrelic-key         NRAL                       [A-Za-z0-9]{30,40}NRAL(?![A-Za-z0-9])
ngrok-token          _…[A-Za-z0-9]{21}(?![A-Za-z0-9_]) [12][A-Za-z0-9]{26}_[A-Za-z0-9]{21}(?![A-Za-z0-9_])
nuget-key            oy2…[a-z0-9]{43}           oy2[a-z0-9]{43}(?![A-Za-z0-9])
nvidia-key           nvapi-                     nvapi-[A-Za-z0-9_-]{40,80}
octopus-key          API-…[A-Z0-9]{25}          API-[A-Z0-9]{25,32}(?![A-Za-z0-9])
onepassword-token    ops_eyJ                    ops_eyJ[A-Za-z0-9+/=_-]{40,2000}
onepassword-key      A3-                        A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,4}[A-Z0-9]{5,6}
openai-key           sess-                      sess-[A-Za-z0-9]{40}
openai-key           sk-…[a-z]                  sk-[a-z]{1,12}-[0-9]{1,3}\.[A-Za-z0-9_.-]{20,255}
openshift-token      sha256~                    sha256~[A-Za-z0-9_-]{40,50}
paddle-key           pdl_                       pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_-]{30,80}
pagerduty-key u+…[A-Za-z0-9_+-]{18}(?![A-Za-z0-9_+/-]) (?<![+/=])u\+[A-Za-z0-9_+-]{18}(?![A-Za-z0-9_+/-])
pagerduty-key pdus+_ pdus\+_[A-Za-z0-9_+-]{18,80}
pinecone-key         pcsk_                      pcsk_[A-Za-z0-9_]{40,90}
plaid-token          access-…[sdp]              access-(?:sandbox|development|production)-[0-9a-f-]{36}
posthog-key          phx_,phs_                  ph[xs]_[A-Za-z0-9]{32,60}
prefect-key          pnu_,pnb_                  pn[ub]_[A-Za-z0-9]{36}
pulumi-token         pul-                       pul-[0-9a-f]{40}
razorpay-key         rzp_                       rzp_(?:live|test)_[A-Za-z0-9]{14,40}
readme-key           rdme_                      rdme_[A-Za-z0-9]{60,80}
render-key           rnd_                       rnd_[A-Za-z0-9]{24,40}
resend-key           re_…[A-Za-z0-9]{6}          re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,30}
runpod-key           rpa_                       rpa_[A-Za-z0-9]{30,60}
scaleway-key         SCW…[A-Z0-9]{17} SCW[A-Z0-9]{17}(?![A-Za-z0-9])
scalingo-token       tk-us-                     tk-us-[A-Za-z0-9_-]{40,60}
shippo-token         shippo_                    shippo_(?:live|test)_[0-9a-f]{40}
shopify-token        shptka_                    shptka_[0-9a-f]{32}
slack-token          xwfp-                      xwfp-[A-Za-z0-9-]{20,255}
sonar-token          squ_,sqp_,sqa_             sq[upa]_[0-9a-f]{40}
sourcegraph-token    sgp_,slk_                  (?:sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|slk_[0-9a-f]{64})
snyk-token           snyk_                      snyk_(?:uat|sat)\.[A-Za-z0-9_.-]{30,400}
socket-token         sktsec_                    sktsec_[A-Za-z0-9_-]{30,80}
square-token         sq0atp-,sq0csp-,sq0idp-    sq0[a-z]{3}-[A-Za-z0-9_-]{22,60}
square-token         EAAA…[A-Za-z0-9_-]{60}     EAAA[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-])
statsig-key          secret-…[A-Za-z0-9_-]{36}  secret-(?:live-|test-)?[A-Za-z0-9_=-]{36,60}(?![A-Za-z0-9_-])
stripe-key           _prod_,_sbox_             [sr]k_(?:prod|sbox)_[A-Za-z0-9_-]{16,255}
svix-key             testsk_                    testsk_[A-Za-z0-9._-]{24,80}
elevenlabs-key       sk_…[0-9a-f]{48}           sk_[0-9a-f]{48}(?![A-Za-z0-9])
tailscale-key        tskey-                     tskey-[a-z]{3,10}-[A-Za-z0-9]{8,40}(?:-[A-Za-z0-9]{16,60})?
tavily-key           tvly-                      tvly-[A-Za-z0-9-]{20,60}
together-key         tgp_v1_                    tgp_v1_[A-Za-z0-9_-]{36,60}
trigger-key          tr_…[dsp][a-z]             tr_(?:dev|prod|stg|pat|preview)_[A-Za-z0-9]{16,60}
twitch-token         oauth:                     oauth:[a-z0-9]{30}(?![A-Za-z0-9])
twitter-token        AAAAAAAAAAAAAAAAAAAA       A{20,24}[A-Za-z0-9%=]{40,200}
typeform-token       tfp_                       tfp_[A-Za-z0-9_=.-]{40,80}
vault-token          hvr.                       hvr\.[A-Za-z0-9_-]{20,300}
vault-token          s.…[A-Za-z0-9]{24}         s\.[A-Za-z0-9]{24}(?![A-Za-z0-9_(.])
vercel-token         vcp_,vci_,vca_,vcr_,vck_   vc[piark]_[A-Za-z0-9]{24,80}
vercel-token         vercel_blob_rw_            vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30}
voyage-key           pa-…[A-Za-z0-9_-]{43}      pa-[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])
volcengine-key       AKLT                       AKLT[A-Za-z0-9_=-]{40,80}
wakatime-key         waka_                      waka_[0-9a-f]{8}-[0-9a-f-]{27}
yandex-key           AQVN,y0_                   (?:AQVN[A-Za-z0-9_-]{35,38}|y0_[A-Za-z0-9_-]{50,80})
yandex-key           t1.…[A-Za-z0-9_-]{30}      t1\.[A-Za-z0-9_-]{30,400}\.[A-Za-z0-9_-]{60,120}
wallet-key           5820                       5820[0-9a-f]{64}(?![0-9A-Za-z])
zoho-token           1000.…[0-9a-f]{32}         1000\.[0-9a-f]{32}\.[0-9a-f]{32}
zuplo-key            zpka_                      zpka_[A-Za-z0-9]{30,60}_[0-9a-f]{8}
bitwarden-token      0.…[0-9a-f]{8}-            0\.[0-9a-f]{8}-[0-9a-f-]{27}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/=]{20,30}
settlemint-token     sm_…[aps]at_               sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,40}
intra42-secret       s-s4t2                     s-s4t2(?:ud|af)-[0-9a-f]{64}
stellar-key          S…[A-Z2-7]{55}             S[A-Z2-7]{55}(?![A-Za-z0-9])
nkey                 SU…[A-Z2-7]{56},SA…[A-Z2-7]{56} S[UAO][A-Z2-7]{56}(?![A-Za-z0-9])
amazon-secret        amzn1.…oa2-cs\.            amzn1\.oa2-cs\.v1\.[0-9a-f]{64}
google-key           GOOG1E                     GOOG1E[A-Z0-9]{50,60}(?![A-Za-z0-9])
riot-key             RGAPI-                     RGAPI-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
roblox-cookie        _|WARNING:                 _\|WARNING:-DO-NOT-SHARE-THIS[^|\n]{0,200}\|_[A-Za-z0-9]{40,2000}
feature-flag-token   .…[0-9a-f]{56} [\w*-]{1,40}:[\w-]{1,40}\.[0-9a-f]{56,64}(?![0-9A-Za-z])
convex-key           |…[A-Za-z0-9+/=]{40}       (?:prod|dev|preview|project):[\w:-]{2,60}\|[A-Za-z0-9+/=]{40,400}
private-key          :…0:[0-9a-f]{128}:         [0-9a-f]{10}:0:[0-9a-f]{128}:[0-9a-f]{128}(?![0-9a-f])
trello-token         ATTA                       ATTA[0-9A-Za-z]{60,80}(?![A-Za-z0-9])
paypal-token         A21AA                      A21AA[A-Za-z0-9_-]{60,200}
porkbun-key          sk1_                       sk1_[0-9a-f]{60,70}(?![A-Za-z0-9])
woocommerce-key      cs_,ck_                    c[sk]_[0-9a-f]{40}(?![A-Za-z0-9])
klaviyo-key          pk_…[0-9a-f]{34}           pk_[0-9a-f]{34}(?![A-Za-z0-9])
ghost-key            :…[0-9a-f]{64}(?![0-9a-z]) [0-9a-f]{24}:[0-9a-f]{64}(?![A-Za-z0-9])
checkly-key          cu_                        cu_[0-9a-f]{32}(?![A-Za-z0-9])
chromatic-token      chpt_                      chpt_[0-9a-z]{12,40}
salesforce-token     !…[A-Za-z0-9._]{60}        00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,140}
matrix-token         syt_                       syt_[A-Za-z0-9]{2,60}_[A-Za-z]{20}_[A-Za-z0-9]{6}
dnsimple-token       dnsimple_                  dnsimple_[au]_[A-Za-z0-9]{24,60}
cockroach-key        CCDB1_                     CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}
exoscale-key         EXO…[0-9a-f]{24}           EXO[0-9a-f]{24}(?![A-Za-z0-9])
backblaze-key        K00…[0-9][A-Za-z0-9+/]{27} K00[0-9][A-Za-z0-9+/]{27}(?![A-Za-z0-9+/=])
imagekit-key         private_…[A-Za-z0-9+/]{27} private_[A-Za-z0-9+/]{27}=(?![A-Za-z0-9+/=])
linkedin-token       WPL_AP1.,AQ…[UVWX][A-Za-z0-9_-]{90} (?:WPL_AP1\.[\w.+/=]{16,80}|AQ[UVWX][\w-]{90,400})
ory-token            ory_                       ory_[a-z]{2,3}_[A-Za-z0-9_.-]{24,200}
ably-key             :…[A-Za-z0-9_-]{43} [A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}(?![\w-])
discord-token .…[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{38} [A-Za-z0-9_-]{24,28}\.[\w-]{6}\.[\w-]{38}(?![\w-])
"""


#: What services call the sort or the world of a key within the key.
_KEY_WORDS = ("live", "prod", "sandbox", "sk", "secret", "api", "pat", "token", "apikey", "priv", "oauth", "personal")
_KEY_BEGINS = "(?:[a-z0-9]{2,8}[_-])?[A-Za-z0-9]{24}"
#: Small letters with digits have runs as long as this behind a word that says that they are a key.
_LONGEST_RUN_OF_KEY = 4.5


def _is_key_of_service(match: re.Match[str]) -> bool:
    return any(map(str.isdigit, match[1])) and not is_made_of_words(match[1], longest=_LONGEST_RUN_OF_KEY)


def _service(row: str) -> SecretRule:
    kind, needles, pattern = row.split(maxsplit=2)
    return SecretRule(kind, tuple(needles.split(",")), WORD_START + pattern, accept=is_drawn)


#: What needs more than a beginning: a place for the kind within, or something that must not be behind.
_SHAPED = r"""
docker-token has_digit_or_both_cases: dckr_pat_
    {BEGIN}dckr_pat_[A-Za-z0-9_-]{20,80}
azure-secret: ~…[A-Za-z0-9_~.-]{31}
    {BEGIN}[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])
# All that were ever seen begin with AA behind the colon, of whose code in an address the sign is left.
telegram-token is_of_all_letters drawn: :AA ¦ %AA
    [0-9]{8,10}[:%]AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])
# What precedes it is checked after the first letter: at every place of a text it would cost four times as much.
discord-token is_of_all_letters drawn: .…[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}
    [MNO](?<![A-Za-z0-9].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])
# The keys of Amazon's own documentation end in EXAMPLE.
aws-key: AKIA ¦ ASIA
    (?<![A-Za-z0-9])A[KS]IA(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9])
"""
_LAST = r"""
# Older versions masked the numbers within before they cut.
slack-token: {SLACK} ¦ xapp-
    {BEGIN}(?:xox[abeoprs]|xapp)-(?:[A-Za-z0-9-]|<id>|<n>){10,255}
openai-key has_digit: sk-
    {BEGIN}sk-(?!ant-)[A-Za-z0-9_-]{20,255}
# Whatever the service is: a prefix, a word that says what follows, and the key.
service-key _is_key_of_service: {KEYS}
    (?<![A-Za-z0-9_-])(?!pk[_-])[a-z0-9]{2,16}[_-](?:{WORDS})[_-](?:[a-z0-9]{2,8}[_-])?([A-Za-z0-9]{24,200})
    (?![A-Za-z0-9_-])
age-key: AGE-SECRET-KEY-
    AGE-SECRET-KEY-1[A-Z0-9]{20,80}
"""
_PARTS = {
    "BEGIN": WORD_START,
    "SLACK": " ¦ ".join(_SLACK),
    "KEYS": " ¦ ".join(f"{sign}{word}{sign}…{_KEY_BEGINS}" for word in _KEY_WORDS for sign in "_-"),
    "WORDS": "|".join(_KEY_WORDS),
}
_CHECKS = (has_digit, has_digit_or_both_cases, is_of_all_letters, _is_key_of_service)
FORMAT_RULES = (
    *(SecretRule(kind, needles, WORD_START + pattern, accept=has_digit) for kind, needles, pattern in _PREFIXED),
    *rules_of(_SHAPED, checks=_CHECKS, parts=_PARTS),
    *(SecretRule(kind, needles, WORD_START + pattern) for kind, needles, pattern in _BEGUN),
    *map(_service, _SERVICES.strip().splitlines()),
    *rules_of(_LAST, checks=_CHECKS, parts=_PARTS),
    *(
        SecretRule(kind, needles, WORD_START + pattern + _CUT_OFF, accept=has_digit_or_both_cases)
        for kind, needles, pattern in _CLIPPED
    ),
)


#: A PEM key of 4096 bits is about 3,300 characters; one of 16,384 bits, the longest in use, four times that.
_LONGEST = 65_536
_TITLE = r" (?![A-Za-z0-9 -]{0,40}(?:PUBLIC|CERTIFICATE|SIGNATURE|REQUEST))[A-Za-z0-9 -]{0,40}(?i:KEY|SEED|SECRET)[A-Za-z0-9 ]{0,10} ?-{4,6}"  # noqa: E501
_BEGIN, _END = r"-{4,6} ?BEGIN" + _TITLE, r"-{4,6} ?END" + _TITLE
_BREAK = r"(?:\s|\\{1,2}[nr]|\d{1,7}(?=[\t→|:])|[|:>#*→\"'+,;.&-])"
#: Atomic groups: before Python 3.11.5 a possessive repetition loses matches where its group has alternatives.
_BREAKS = rf"(?>{_BREAK}*)"
# The block's body when its end is not in the text: lines of base64, possibly with their line ends spelled out.
_BODY = rf"{_BREAKS}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n]{{0,100}}{_BREAKS}){{0,4}}(?>(?:[A-Za-z0-9+/=]{{16,}}+{_BREAKS})+)"
#: What stands before and behind the base64 of a line: numbers and marks of listings and diffs, quotes of code.
_LINE = r"[\s\d:|>#*→+\-\"',]{0,24}(?:[A-Za-z0-9+/]{16,}={0,2}[\"'\s+,;\\]{0,8})?"
_LINE_BREAK = r"\r?\n|\\{1,2}n"
# What the base64 of an encoded private key begins with: RSA, the general form, elliptic curves, OpenSSH.
_ENCODED = (
    r"(?<![A-Za-z0-9/])(?<![A-Za-z0-9+/]\+)(?:MII[A-Za-z0-9+/]{2}[AQgw]IBA[ADSz]|RWR(?:TY0Iy|CSw)[A-Za-z0-9+/]{40}|MHcCAQEE|MHQCAQEE|MIG[A-Za-z0-9+/]AgEA|M[CFG4][A-Za-z0-9]CAQAwBQYDK2V"
    r"|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=]{12,}+(?>(?:" + _BREAKS + r"[A-Za-z0-9+/=]{16,}+)*)"
)
#: ``-----BEGIN`` in base64, but for certificates and public keys.
_WHOLE = r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/=]{16,}+(?>(?:" + _BREAKS + r"[A-Za-z0-9+/=]{16,}+)*)"
_PUTTY = r"(?i)private-lines: ?\d{1,3}" + _BODY + r"(?:private-mac: ?[0-9a-f]{32,64})?"
#: One of these is in each block, in a text and among its words.
_SIGNS = (
    "-BEGIN ", "-END ", "- BEGIN ", "- END ", "rivate-Lines", "rivate-lines", "privateExponent", "priv:",
)  # fmt: skip
#: What a vocabulary must tell of for key blocks.
BLOCK_WORDS = frozenset(("priv", "privateexponent", "private", "secret", "key", "seed"))
#: What is known without its frame.
KEY_RULES = rules_of(
    r"""
private-key drawn spans_lines: IBA…[ADSz][A-Za-z0-9+/=]{12} ¦ RWRTY0Iy ¦ RWRCSw ¦ CAQEE ¦ AgEAM ¦ YDK2V ¦ C1rZXktdjE
    {ENCODED}
# What openssl prints of a key: octets in rows, behind the name of a secret part.
private-key folded spans_lines: priv ¦ privateexponent ¦ prime1 ¦ prime2 ¦ exponent1 ¦ exponent2 ¦ coefficient
    (?i)\b(?:priv|privateExponent|prime[12]|exponent[12]|coefficient):\s*((?:{BREAK}{0,20}(?:[0-9a-f]{2}:){4,40}
    (?:[0-9a-f]{2})?)+(?:{BREAK}{0,20}(?:[0-9a-f]{2}:){0,3}[0-9a-f]{2}(?=\s*(?:\Z|\n|\\|pub)))?)
# The name of a key over one line of base64, as Tor and signify write it.
private-key folded: secret key ¦ secret: ¦ privatekey ¦ private.key ¦ secret.key
    (?i)(?:secret key|secret: type\d ==|private_?\.?key|secret\.key)\W{0,8}\n
    [^\n]{0,60}?(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{42,140}={0,2})(?![A-Za-z0-9+/])
private-key drawn spans_lines: LS0tLS1CRUdJTi
    {WHOLE}
private-key spans_lines: Private-Lines ¦ private-lines
    {PUTTY}
""",
    parts={"ENCODED": _ENCODED, "BREAK": _BREAK, "WHOLE": _WHOLE, "PUTTY": _PUTTY},
)


def has_key_block(sifted: SiftedText) -> bool:
    """Whether a text may hold a private key of several lines."""
    return not sifted.telling.isdisjoint(BLOCK_WORDS) and mentions(sifted.text, _SIGNS)


def framed_keys(sifted: SiftedText) -> Iterator[Cut]:
    """Private keys, from the first line to the last; where one of these is missing, as far as the base64 goes."""
    text = sifted.text
    last, covered = text.rfind("END "), 0
    for begin in compiled_pattern(_BEGIN).finditer(text):
        end = compiled_pattern(_END).search(text, begin.end(), min(begin.end() + _LONGEST, last + 80))
        body = end or compiled_pattern(_BODY).match(text, begin.end())
        if body is not None:
            covered = body.end()
            yield make_cut("private-key", begin.start(), covered)
    for end in compiled_pattern(_END).finditer(text, covered):
        start = _tail(text, max(covered, end.start() - _LONGEST), end.start())
        covered = end.end()
        if start < end.start():
            yield make_cut("private-key", start, covered)


def _tail(text: str, first: int, end: int) -> int:
    """Where the lines of base64 before a key's last line begin."""
    start = end
    breaks = [first, *(found.end() for found in compiled_pattern(_LINE_BREAK).finditer(text, first, end))]
    for begin in reversed(breaks):
        line = text[begin:start].strip()
        if line and not compiled_pattern(_LINE).fullmatch(line.removesuffix("\\n").removesuffix("\\")):
            part = compiled_pattern(r"[A-Za-z0-9+/]{40,}={0,2}\\{0,2}n?\s*\Z").search(text, begin, start)
            return part.start() if part else start
        start = begin
    return start
