import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const COMPILER = join(ROOT, 'node_modules/assemblyscript/bin/asc.js')
const MODULES = [
  { sources: 'src/rego/wasm/reader/assembly', built: 'dist/rego/wasm/reader.wasm' },
  { sources: 'src/rego/wasm/linked/assembly', built: 'dist/rego/wasm/linked.wasm' },
]

/** Compiles the AssemblyScript modules, unless they are newer than their sources. */
export default function buildWasm(): void {
  for (const { sources, built } of MODULES) {
    if (!isStale(sources, built)) continue
    const options = ['--config', `${sources}/asconfig.json`]
    execFileSync(process.execPath, [COMPILER, ...options], { cwd: ROOT, stdio: 'inherit' })
  }
}

function isStale(sources: string, built: string): boolean {
  const builtAt = statSync(join(ROOT, built), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return readdirSync(join(ROOT, sources), { encoding: 'utf8', recursive: true }).some(
    (name) => statSync(join(ROOT, sources, name)).mtimeMs > builtAt,
  )
}
