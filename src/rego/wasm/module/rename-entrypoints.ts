import { SECTION, readSections } from '../binary/sections.js'

/**
 * The same module with entrypoints under other names. OPA's modules hold the names as texts that end with NUL, once each, among their data, and
 * measure them when they are asked for: another name fits where it is not longer. What does not fit keeps its name. `names` has the new
 * names by the old ones; the ones that were given are returned.
 */
export function renameEntrypoints(
  wasm: Uint8Array,
  names: ReadonlyMap<string, string>,
): { wasm: Uint8Array; renamed: ReadonlySet<string> } {
  const copy = Buffer.from(wasm)
  const data = readSections(wasm).find(({ id }) => id === SECTION.data)
  const renamed = new Set<string>()
  if (data === undefined) return { wasm, renamed }
  const texts = copy.subarray(data.start, data.end)
  for (const [from, to] of names) {
    const [old, next] = [Buffer.from(`\0${from}\0`), Buffer.from(`\0${to}\0`)]
    const at = texts.indexOf(old)
    if (at === -1 || next.length > old.length || texts.includes(old, at + 1)) continue
    next.copy(texts, at)
    renamed.add(from)
  }
  return { wasm: copy, renamed }
}
