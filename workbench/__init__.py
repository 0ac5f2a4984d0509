"""The workbench: results folders as pages in a browser on this machine, and labels that people give there."""
