// Reloads the content of the page when something changed.
