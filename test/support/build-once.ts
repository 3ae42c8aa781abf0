import { execSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** The build writes it last, so that one that failed is repeated. */
const LAST_OUTPUT = join(ROOT, 'dist/THIRD-PARTY-LICENSES.txt')

/**
 * Bundles the program for tests of whole processes, unless it is newer than every source. The WASM
 * is compiled before.
 */
export default function buildOnce(): void {
  if (!isStale()) return
  execSync('npm run --silent build:program', { cwd: ROOT, stdio: 'inherit' })
}

function isStale(): boolean {
  const builtAt = statSync(LAST_OUTPUT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return [
    'package.json',
    'build/bundle.js',
    'build/bill-of-materials.js',
    ...sources.map((name) => join('src', name)),
  ]
    .map((name) => statSync(join(ROOT, name)).mtimeMs)
    .some((changedAt) => changedAt > builtAt)
}
