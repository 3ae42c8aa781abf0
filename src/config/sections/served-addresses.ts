import { z } from 'zod'

import { key } from '../values/key.js'
import { LISTEN_ADDRESS_TEXT, parseListenAddress } from './listen-address.js'
import type { ListenAddress } from './listen-address.js'

/** What is answered at an address: everything, or what probes and monitoring ask. */
const SERVED = ['all', 'health'] as const
export type Served = (typeof SERVED)[number]

/** An address of the configuration: `HOST:PORT` or `unix:PATH`. */
export function addressText() {
  return z.string().refine((text) => parseListenAddress(text) !== undefined)
}

/** An address beside `server.addr`. */
export const FurtherAddress = z.strictObject({
  addr: key(addressText(), 'Where to listen.', LISTEN_ADDRESS_TEXT),
  serves: key(
    z.enum(SERVED).default('all'),
    'What is answered there: everything, or `/health`, `/livez`, `/readyz` and `/metrics` only.',
    SERVED.join(', '),
  ),
  tls: key(
    z.boolean().optional(),
    'Whether it speaks TLS: by default every port does where `server.tlsCertificate` is set. Sockets never do.',
    'true or false',
  ),
})

/** One place where the service listens, as configured. */
export interface ServedAddress {
  readonly text: string
  readonly address: ListenAddress
  readonly serves: Served
  readonly isTls: boolean
}

/** The part of the configuration that says where to listen. */
interface Listening {
  readonly addr: string
  readonly addresses: readonly {
    readonly addr: string
    readonly serves: Served
    readonly tls?: boolean | undefined
  }[]
  readonly tlsCertificate?: string | undefined
}

/** Every place where the service listens, `server.addr` first; what is none of the forms is left out. */
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

/** Where a program of the same machine asks a service that is configured so: a port without TLS, else a socket, else the first; undefined for a port that the system chooses. */
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
