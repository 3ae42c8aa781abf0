/** Reasons of a package, and the numbers of omitted ones. */
interface NamedPackage {
  readonly package: string
  readonly deny: readonly string[]
  readonly denyLeftOut?: number
  readonly warnings?: readonly object[]
  readonly warningsLeftOut?: number
}

/** Bytes for the number of omitted packages. */
const REST_BYTES = 40

/**
 * Cuts the packages of a decision, as JSON bytes, to a size. The first packages retain their
 * reasons. Those after them have only their name, with the numbers of their denials as
 * `denyLeftOut` and of their warnings as `warningsLeftOut`. If not all names fit,
 * `{"packagesLeftOut": n}` is the last element. Undefined if none fits.
 */
export function shortenPackages(packages: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (packages.length <= maxBytes) return packages
  // The limit is 0 while the decision log drops details under load. Parsing would be wasted then.
  if (maxBytes <= REST_BYTES) return undefined
  const whole = JSON.parse(Buffer.from(packages).toString()) as readonly NamedPackage[]
  let bytesLeft = maxBytes - REST_BYTES
  const kept: NamedPackage[] = []
  for (const { package: name, deny, warnings } of whole) {
    const left = warnings === undefined ? {} : { warningsLeftOut: warnings.length }
    const named = { package: name, deny: [], denyLeftOut: deny.length, ...left }
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
function sizeOf(element: NamedPackage): number {
  return Buffer.byteLength(JSON.stringify(element)) + 1
}
