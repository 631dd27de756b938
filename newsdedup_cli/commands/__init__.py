"""One module a command: it parses, builds the settings, calls one function, prints."""
