/** What one package says against, and of how many texts more there was no room for. */
interface DenyingPackage {
  readonly package: string
  readonly deny: readonly string[]
  readonly denyLeftOut?: number
}

/** Room for what says how many packages there was none for. */
const REST_BYTES = 40

/**
 * The packages that deny, given as JSON bytes, as JSON of at most so many bytes: in their order, as many as there is room for with all that they say, the
 * others by name with `denyLeftOut`, the number of their texts. Where there is no room for all names, `{"packagesLeftOut": n}` is the last element; undefined
 * where there is none for any.
 */
export function shortenPackages(packages: Uint8Array, mostBytes: number): Uint8Array | undefined {
  if (packages.length <= mostBytes) return packages
  // Where detail gives way nothing is kept, and there is no time to read them.
  if (mostBytes <= REST_BYTES) return undefined
  const whole = JSON.parse(Buffer.from(packages).toString()) as readonly DenyingPackage[]
  let room = mostBytes - REST_BYTES
  const kept: DenyingPackage[] = []
  for (const { package: name, deny } of whole) {
    const named = { package: name, deny: [], denyLeftOut: deny.length }
    if (sizeOf(named) > room) break
    room -= sizeOf(named)
    kept.push(named)
  }
  for (const [at, named] of kept.entries()) {
    const all = whole[at] ?? named
    const more = sizeOf(all) - sizeOf(named)
    if (more > room) break
    room -= more
    kept[at] = all
  }
  if (kept.length === 0) return undefined
  const left = whole.length - kept.length
  return Buffer.from(JSON.stringify(left === 0 ? kept : [...kept, { packagesLeftOut: left }]))
}

/** Of an element, with the comma behind it. */
function sizeOf(element: DenyingPackage): number {
  return Buffer.byteLength(JSON.stringify(element)) + 1
}
