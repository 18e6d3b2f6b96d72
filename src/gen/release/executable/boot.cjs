// What the single executable and each of its threads begin with: modules are found inside it, as if they lay in a folder
// of its name. Their addresses are those of files, because packages make paths of them.
const { createRequire, enableCompileCache, registerHooks } = require('node:module');
const { getAsset } = require('node:sea');
const { pathToFileURL } = require('node:url');

enableCompileCache(); // as the launcher of the package does
const folder = `${pathToFileURL(process.execPath).href}/`;
registerHooks({
  resolve(specifier, context, next) {
    const isInside =
      specifier.startsWith(folder) || (specifier.startsWith('./') && context.parentURL?.startsWith(folder));
    return isInside
      ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(folder)) return next(url, context);
    const [name, first] = url.slice(folder.length).split('?');
    // Only a module of the loader may import: neither what an executable begins with nor a script may.
    const source = first === undefined ? getAsset(name, 'utf8') : `import('${decodeURIComponent(first)}')`;
    return { format: first === undefined ? 'module' : 'commonjs', source, shortCircuit: true };
  },
});

// A thread says before what it begins with; see `startProgramThread()`.
const entry = globalThis.heddleThread ?? `${folder}main.js`;
createRequire(process.execPath)(`${folder}start.cjs?${encodeURIComponent(entry)}`);
