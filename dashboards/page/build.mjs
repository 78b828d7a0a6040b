// SPDX-License-Identifier: Apache-2.0

// Bundles the page into a folder, dist/ unless
// another one is named. What it writes depends on the sources and the lock file
// alone.
//
// usage: node build.mjs [FOLDER]
import { build } from 'esbuild';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = resolve(process.argv[2] ?? `${here}dist`);
await mkdir(dist, { recursive: true });

// Grafana's components are ES modules, of which all that the page does not use
// can be left out. By their names, files that end in .mjs import CommonJS as
// Node.js would, and find no default export in React and others: so they get
// another name. Components and data share a theme only if there is one copy of
// each package, the page's own.
const modulesOfGrafana = {
  name: 'modules of Grafana',
  setup: ({ onResolve, onLoad, resolve }) => {
    onResolve({ filter: /^@grafana\/|^\./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === modulesOfGrafana) {
        return undefined;
      }
      const own = path.startsWith('@') ? { resolveDir: here } : {};
      const found = await resolve(path, { ...from, ...own, pluginData: modulesOfGrafana });
      if (found.errors.length > 0 || !/[\\/]@grafana[\\/].*\.mjs$/.test(found.path)) {
        return undefined;
      }
      return { path: found.path.replace(/mjs$/, 'es'), namespace: 'grafana', sideEffects: found.sideEffects };
    });
    // Whoever looks has fonts.
    onLoad({ filter: /[\\/]GlobalStyles[\\/]fonts\.es$/, namespace: 'grafana' }, () => ({
      contents: 'export const getFontStyles = () => [];', loader: 'js',
    }));
    onLoad({ filter: /\.es$/, namespace: 'grafana' }, async ({ path }) => ({
      contents: await readFile(path.replace(/es$/, 'mjs')), resolveDir: dirname(path), loader: 'js',
    }));
  },
};

await build({
  entryPoints: ['src/main.tsx'],
  outfile: `${dist}/page.js`,
  absWorkingDir: here,
  bundle: true,
  format: 'esm',
  minify: true,
  legalComments: 'linked',
  jsx: 'automatic',
  target: 'es2022',
  // The page shows present times in the browser's zone: it needs no history of all zones.
  alias: { 'moment-timezone': 'moment-timezone/builds/moment-timezone-with-data-10-year-range.js' },
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
  loader: { '.png': 'dataurl', '.svg': 'text', '.ttf': 'dataurl', '.woff2': 'dataurl' },
  plugins: [modulesOfGrafana],
  logLevel: 'warning',
});

await copyFile(`${here}index.html`, `${dist}/index.html`);
// Grafana's components fetch their icons, these are those of the components that the page has.
const icons = 'img/icons/unicons';
await mkdir(`${dist}/public/build/${icons}`, { recursive: true });
for (const name of ['angle-down', 'angle-up', 'check', 'exclamation-triangle', 'info-circle', 'search', 'times']) {
  await copyFile(`${here}node_modules/@grafana/ui/dist/public/${icons}/${name}.svg`, `${dist}/public/build/${icons}/${name}.svg`);
}
