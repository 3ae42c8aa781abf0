import type { Exchange } from './exchange.js'

/**
 * Returns a cookie (RFC 6265, 4.2.1). A repeated cookie is ignored, since it is unknown which one
 * is genuine.
 */
export function cookieOf(exchange: Exchange, name: string): string | undefined {
  const pairs = (exchange.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  const values = pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}
