/** Messages of a denying package, and the number of omitted ones. */
interface DenyingPackage {
  readonly package: string
  readonly deny: readonly string[]
  readonly denyLeftOut?: number
}

/** Bytes for the number of omitted packages. */
const REST_BYTES = 40

/**
 * Cuts denying packages, as JSON bytes, to a size. The first packages retain their messages. Those
 * after them have only their name, with the number of their messages as `denyLeftOut`. If not all
 * names fit, `{"packagesLeftOut": n}` is the last element. Undefined if none fits.
 */
export function shortenPackages(packages: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (packages.length <= maxBytes) return packages
  // The limit is 0 while the decision log drops details under load. Parsing would be wasted then.
  if (maxBytes <= REST_BYTES) return undefined
  const whole = JSON.parse(Buffer.from(packages).toString()) as readonly DenyingPackage[]
  let bytesLeft = maxBytes - REST_BYTES
  const kept: DenyingPackage[] = []
  for (const { package: name, deny } of whole) {
    const named = { package: name, deny: [], denyLeftOut: deny.length }
    if (sizeOf(named) > bytesLeft) break
    bytesLeft -= sizeOf(named)
    kept.push(named)
  }
  for (const [at, named] of kept.entries()) {
    const all = whole[at] ?? named
    const more = sizeOf(all) - sizeOf(named)
    if (more > bytesLeft) break
    bytesLeft -= more
    kept[at] = all
  }
  if (kept.length === 0) return undefined
  const left = whole.length - kept.length
  return Buffer.from(JSON.stringify(left === 0 ? kept : [...kept, { packagesLeftOut: left }]))
}

/** Size of an element with its comma. */
function sizeOf(element: DenyingPackage): number {
  return Buffer.byteLength(JSON.stringify(element)) + 1
}
