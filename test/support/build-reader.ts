import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = 'src/pdp/wasm/reader/assembly'
const READER = join(ROOT, 'dist/pdp/wasm/reader.wasm')
const COMPILER = join(ROOT, 'node_modules/assemblyscript/bin/asc.js')

/** Compiles the reader of inputs, which the sources load as the program does, unless it is newer than what it is made of. */
export default function buildReader(): void {
  if (!isStale()) return
  const options = ['--config', `${SOURCES}/asconfig.json`]
  execFileSync(process.execPath, [COMPILER, ...options], { cwd: ROOT, stdio: 'inherit' })
}

function isStale(): boolean {
  const builtAt = statSync(READER, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return readdirSync(join(ROOT, SOURCES)).some(
    (name) => statSync(join(ROOT, SOURCES, name)).mtimeMs > builtAt,
  )
}
