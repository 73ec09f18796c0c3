/** Python from the network, once somebody asks for a check. */
async function start() {
  const { loadPyodide } = await import("https://cdn.jsdelivr.net/pyodide/v@VERSION@/full/pyodide.mjs");
  return await loadPyodide();
}
