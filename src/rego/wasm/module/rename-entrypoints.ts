import { SECTION, readSections } from '../binary/sections.js'

/**
 * Renames entrypoints in a copy of a module. OPA's modules store the names once each, as
 * NUL-terminated strings in their data, and measure them at run time, so a new name must not be
 * longer. Names that do not fit are kept. `names` maps old to new names; `renamed` has the old
 * names that were replaced.
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
