/**
 * A 64-bit integer as OPA 1.x accepts it: digits, also with zeros after a point, up to 19
 * characters after a minus.
 */
const INTEGER = /^-?(?=[\d.]{1,19}$)(\d+)(?:\.0*)?$/

/**
 * Returns the 64-bit integer that OPA parses a number's text as (`util.Atoi64`); undefined for
 * other numbers.
 */
export function goInteger(text: string): bigint | undefined {
  const digits = INTEGER.exec(text)?.[1]
  if (digits === undefined) return undefined
  const integer = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
