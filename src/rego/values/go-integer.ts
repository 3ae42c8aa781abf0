/**
 * A 64-bit integer as OPA 1.x accepts it: digits, also with zeros after a point, up to 19
 * characters after a minus.
 */
const INTEGER = /^-?(?=[\d.]{1,19}$)(\d+)(?:\.0*)?$/

/** The 64-bit integer that the text of a number is for OPA (util.Atoi64); undefined for any other number. */
export function goInteger(text: string): bigint | undefined {
  const digits = INTEGER.exec(text)?.[1]
  if (digits === undefined) return undefined
  const integer = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
