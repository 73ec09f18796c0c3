/** Python from this file: every part is packed, and unpacked when it is needed. */
async function part(name) {
  const packed = Uint8Array.from(atob(one(name).textContent), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
const module = async (name) => import(URL.createObjectURL(new Blob([await part(name)], { type: "text/javascript" })));

async function start() {
  const home = "https://pyodide.invalid/"; // nothing is fetched from there
  const types = { "pyodide.asm.wasm": "application/wasm", "python_stdlib.zip": "application/zip" };
  const fetched = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    const name = String(address).replace(home, "");
    if (!(name in types)) return fetched(address, options);
    return new Response(await part(name), { headers: { "Content-Type": types[name] } });
  };
  try {
    const { loadPyodide } = await module("pyodide.mjs");
    const { default: createPyodideModule } = await module("pyodide.asm.mjs");
    return await loadPyodide({ indexURL: home, createPyodideModule, lockFileContents: @LOCK@ });
  } finally {
    globalThis.fetch = fetched;
  }
}
