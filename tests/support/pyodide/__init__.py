"""Running the tests of the simulator under Pyodide: CPython in WebAssembly, as in a browser."""
