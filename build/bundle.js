/**
 * `npm run build`: bundles the sources into `dist/`. Packages in `dependencies` stay outside,
 * because they are native, or large and rarely loaded.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { billOfMaterials, findComponents, licenceTexts } from './bill-of-materials.js'

const ROOT = join(import.meta.dirname, '..')
/** The output folder. Defaults to `dist`. */
const OUT = process.argv[2] ?? join(ROOT, 'dist')
/** CommonJS packages in the bundle load Node's own modules with `require`. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const threads = readdirSync(join(ROOT, 'src/threads')).map((file) => basename(file, '.ts'))

// Chunks of earlier builds would be packed too.
for (const folder of ['chunks', 'threads']) rmSync(join(OUT, folder), { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: {
    cli: 'src/cli.ts',
    ...Object.fromEntries(threads.map((name) => [`threads/${name}`, `src/threads/${name}.ts`])),
  },
  outdir: OUT,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  // The oldest release in package.json's `engines`.
  target: 'node22',
  external: Object.keys(ours.dependencies),
  define: { BUILD_DIGEST: JSON.stringify(digestSources()) },
  banner: { js: REQUIRE },
  legalComments: 'none',
  // Identifiers stay readable in stack traces and profiles.
  minifyWhitespace: true,
  lineLimit: 160,
  metafile: true,
  logLevel: 'warning',
})
// The editor of pages, which browsers load.
const editor = await build({
  absWorkingDir: ROOT,
  entryPoints: { editor: 'src/browser/editor.ts' },
  outdir: join(OUT, 'browser'),
  bundle: true,
  format: 'iife',
  target: ['chrome111', 'firefox113', 'safari16.4'],
  legalComments: 'none',
  minify: true,
  metafile: true,
  logLevel: 'warning',
})
const components = findComponents(ROOT, bundledPackages([metafile, editor.metafile]))
writeFileSync(join(OUT, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(ours, components))}\n`)
writeFileSync(join(OUT, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(ROOT, components))

/** Digest of the sources and library versions, which identifies cached compiled policies. */
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

/** The folders of the packages in the bundle, for licences and the bill of materials. */
function bundledPackages(metafiles) {
  const outputs = metafiles.flatMap((metafile) => Object.values(metafile.outputs))
  const files = outputs.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = files.flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.split(sep).join('/')) ?? [],
  )
  return [...new Set(folders)].sort()
}
