"""One reader per log format, chosen by sniffing the content."""
