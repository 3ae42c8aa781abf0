import { z } from 'zod'

import { key } from '../values/key.js'
import { LISTEN_ADDRESS_TEXT, parseListenAddress } from './listen-address.js'
import type { ListenAddress } from './listen-address.js'

/** Routes of an address: all, or only those of probes and monitoring. */
const SERVED = ['all', 'health'] as const
export type Served = (typeof SERVED)[number]

/** An address in the configuration: `HOST:PORT` or `unix:PATH`. */
export function addressText() {
  return z.string().refine((text) => parseListenAddress(text) !== undefined)
}

/** An address in addition to `server.addr`. */
export const FurtherAddress = z.strictObject({
  addr: key(addressText(), 'Address to listen on.', LISTEN_ADDRESS_TEXT),
  serves: key(
    z.enum(SERVED).default('all'),
    'Routes of the address: all, or `/health`, `/livez`, `/readyz` and `/metrics` only.',
    SERVED.join(', '),
  ),
  tls: key(
    z.boolean().optional(),
    'Whether it uses TLS. By default every port does if `server.tlsCertificate` is set. Sockets never do.',
    'true or false',
  ),
})

/** A configured address of the service. */
export interface ServedAddress {
  readonly text: string
  readonly address: ListenAddress
  readonly serves: Served
  readonly isTls: boolean
}

interface Listening {
  readonly addr: string
  readonly addresses: readonly {
    readonly addr: string
    readonly serves: Served
    readonly tls?: boolean | undefined
  }[]
  readonly tlsCertificate?: string | undefined
}

/** Returns all addresses of the service, `server.addr` first. Malformed ones are omitted. */
export function servedAddresses({ addr, addresses, tlsCertificate }: Listening): ServedAddress[] {
  const hasCertificate = tlsCertificate !== undefined
  return [{ addr, serves: 'all' as const, tls: undefined }, ...addresses].flatMap(
    ({ addr: text, serves, tls }) => {
      const address = parseListenAddress(text)
      if (address === undefined) return []
      return [{ text, address, serves, isTls: hasCertificate && !('path' in address) && tls !== false }]
    },
  )
}

/**
 * Returns the URL for a client on the same machine: preferably a port without TLS, then a socket,
 * then the first address. Undefined if the system chooses the port.
 */
export function ownAddress(server: Listening): string | undefined {
  const all = servedAddresses(server).filter(({ serves }) => serves === 'all')
  const isPlain = ({ address, isTls }: ServedAddress): boolean => !isTls && !('path' in address)
  const best = all.find(isPlain) ?? all.find(({ isTls }) => !isTls) ?? all[0]
  if (best === undefined || 'path' in best.address) return best?.text
  const { host, port } = best.address
  if (port === 0) return undefined
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http${best.isTls ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
