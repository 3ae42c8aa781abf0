/**
 * `npm run build`: the sources to `dist/`, as a few files instead of a thousand, which halves the time of a start. What stands under
 * `dependencies` stays outside: it is native, or large and rarely needed. Everything else that the sources import is bundled.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { build, transform } from 'esbuild'
import { billOfMaterials, findComponents, licenceTexts } from './bill-of-materials.js'
import { mergeChunks } from './merge-chunks.js'

const ROOT = join(import.meta.dirname, '..')
/** What is given to others is shorter: names within files are. Profiles and stack traces of a build for oneself keep them. */
const { values, positionals } = parseArgs({
  options: { package: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const OUT = positionals[0] ?? join(ROOT, 'dist')
/** Oldest Node.js that `engines` names. */
const TARGET = 'node22'
const SBOM = 'sbom.cdx.json'
const LICENCES = 'THIRD-PARTY-LICENSES.txt'
/** What the bundler does not write; nor does it what the compiler of AssemblyScript leaves. */
const KEPT = new Set([SBOM, LICENCES, '.built'])
/** CommonJS packages that are bundled ask for Node's own modules by `require`. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

const HMAC =
  "exports.hmac = (key, data) => require('node:crypto').createHmac('sha256', key).update(data).digest()"

/** Logs go to standard error without threads; figures are neither summaries nor sent to a gateway. */
const LEFT_OUT = [
  { file: join('pino', 'lib', 'transport.js'), contents: 'module.exports = undefined' },
  { file: join('pino', 'lib', 'multistream.js'), contents: 'module.exports = undefined' },
  { file: join('prom-client', 'lib', 'summary.js'), contents: 'module.exports = undefined' },
  { file: join('prom-client', 'lib', 'pushgateway.js'), contents: 'module.exports = undefined' },
  // It signs callbacks by this hash alone, which Node has itself.
  { file: join('fast-sha256', 'sha256.js'), contents: HMAC },
]

const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const threads = readdirSync(join(ROOT, 'src/threads')).map((file) => basename(file, '.ts'))

const format = {
  format: 'esm',
  platform: 'node',
  target: TARGET,
  legalComments: 'none',
  // Lines stay short, so that a stack trace still tells where; whoever has the package has no sources to look at.
  minifyWhitespace: true,
  minifySyntax: values.package,
  minifyIdentifiers: values.package,
  lineLimit: values.package ? 4000 : 160,
  logLevel: 'warning',
}
const { metafile } = await build({
  ...format,
  absWorkingDir: ROOT,
  entryPoints: {
    cli: 'src/cli.ts',
    ...Object.fromEntries(threads.map((name) => [`threads/${name}`, `src/threads/${name}.ts`])),
  },
  outdir: OUT,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  external: Object.keys(ours.dependencies),
  define: { BUILD_DIGEST: JSON.stringify(digestSources()) },
  banner: { js: REQUIRE },
  metafile: true,
  plugins: [
    {
      name: 'packages',
      setup: (bundler) => {
        bundler.onLoad({ filter: /node_modules.*\.[cm]?js$/ }, loadPackageFile)
        bundler.onLoad({ filter: /\.ts$/ }, loadSource)
      },
    },
  ],
})
for (const path of Object.keys(metafile.outputs)) dropRequire(join(ROOT, path))
const written = await mergeChunks(OUT, metafile, format)
removeStale(written)
if (values.package) await minifyAll(written)
const components = findComponents(ROOT, bundledPackages(metafile))
writeFileSync(join(OUT, SBOM), `${JSON.stringify(billOfMaterials(ours, components))}\n`)
writeFileSync(join(OUT, LICENCES), licenceTexts(ROOT, components))

/** Of what this is built of: the sources, and which libraries. */
function digestSources() {
  const hash = createHash('sha256')
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'))
  for (const file of ['package-lock.json', ...sources.sort().map((name) => join('src', name))])
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

/** `z` is one object that holds all of zod; of a namespace only what is named is bundled. */
async function loadSource({ path }) {
  const text = await readFile(path, 'utf8')
  return { contents: text.replace("import { z } from 'zod'", "import * as z from 'zod'"), loader: 'ts' }
}

/** A file of another's: short. Of zod's forty languages one is kept; only that is ever asked for. Schemas are not made from JSON Schema, and figures
 * have no exemplars, for which alone prom-client asks OpenTelemetry. Nor are schemas compiled, or a database asked by a native driver. */
async function loadPackageFile({ path }) {
  if (path.endsWith(join('zod', 'v4', 'locales', 'index.js'))) {
    return { contents: "export { default as en } from './en.js'", loader: 'js' }
  }
  if (path.endsWith(join('zod', 'v4', 'classic', 'from-json-schema.js'))) {
    return { contents: 'export const fromJSONSchema = undefined', loader: 'js' }
  }
  if (path.includes(join('@opentelemetry', 'api', 'dist'))) {
    return { contents: 'export const trace = undefined, context = undefined', loader: 'js' }
  }
  if (path.endsWith(join('zod', 'v4', 'core', 'compile.js'))) {
    const names = ['INVALID', 'ZodCompileAsyncError', 'ZodCompileUnsupportedError', 'compile', 'withParser']
    return { contents: names.map((name) => `export const ${name} = undefined`).join('\n'), loader: 'js' }
  }
  if (path.endsWith(join('pg', 'lib', 'native', 'index.js'))) {
    return { contents: 'module.exports = undefined', loader: 'js' }
  }
  const leftOut = LEFT_OUT.find(({ file }) => path.endsWith(file))
  if (leftOut !== undefined) return { contents: leftOut.contents, loader: 'js' }
  const { code } = await transform(await readFile(path, 'utf8'), {
    minify: true,
    legalComments: 'none',
    target: TARGET,
  })
  return { contents: code, loader: 'js' }
}

async function minifyAll(files) {
  const { minifyModule } = await import('./minify.js')
  for (const file of files) {
    const path = join(OUT, file)
    writeFileSync(path, await minifyModule(readFileSync(path, 'utf8')))
  }
}

/** Most files need no `require`, and making one costs a start as much as a small module. */
function dropRequire(file) {
  const text = readFileSync(file, 'utf8')
  const rest = text.replace(`${REQUIRE}\n`, '')
  if (!/\brequire\b/.test(rest)) writeFileSync(file, rest)
}

/** The packages that have a part in `dist/`, for the list of licences and the bill of materials. */
function bundledPackages({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const folders = files.flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.split(sep).join('/')) ?? [],
  )
  return [...new Set(folders)].sort()
}

/** Removes what former builds left: it would be packed too. */
function removeStale(written) {
  for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
    const file = relative(OUT, join(entry.parentPath, entry.name))
    if (!entry.isDirectory() && !KEPT.has(file) && !file.endsWith('.wasm') && !written.has(file))
      rmSync(join(OUT, file))
  }
}
