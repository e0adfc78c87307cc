"""What happened: episodes, the readers of session logs, and the extraction between them."""
