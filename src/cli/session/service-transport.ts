import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { certificateIn, certificateWithKey } from '../../lib/validation/pem-files.js'
import type { PemFile } from '../../lib/validation/pem-files.js'

/** How to reach a service: a socket, an authority of ours, a certificate in place of a token. */
export interface TransportOptions {
  readonly caFile?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

/** Sends requests as `fetch` does. */
export type Fetch = (target: string, init: RequestInit) => Promise<Response>

/**
 * What sends requests to the service: node's own `fetch` where nothing else is said. Raises `invalid` for files that cannot be read or used, and for a
 * certificate without its key.
 */
export async function openTransport(options: TransportOptions, socketPath?: string): Promise<Fetch> {
  const { caFile, clientCertificate, clientKey } = options
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw new AppError('invalid', '--client-certificate and --client-key go together: give both or none')
  if (caFile === undefined && clientCertificate === undefined && socketPath === undefined) return fetch
  const [ca, cert, key] = await Promise.all([
    readPem('--ca-file', caFile),
    readPem('--client-certificate', clientCertificate),
    readPem('--client-key', clientKey),
  ])
  if (ca !== undefined) certificateIn(ca)
  if (cert !== undefined && key !== undefined) certificateWithKey(cert, key)
  const undici = await import('undici')
  const dispatcher = new undici.Agent({
    connect: { ca: ca?.text, cert: cert?.text, key: key?.text, socketPath: socketPath ?? null },
  })
  const send = undici.fetch as unknown as (target: string, init: object) => Promise<Response>
  return (target, init) => send(target, { ...init, dispatcher })
}

async function readPem(name: string, path: string | undefined): Promise<PemFile | undefined> {
  if (path === undefined) return undefined
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AppError('invalid', `cannot read ${path}: ${toError(cause).message}`, { cause })
  })
  return { name, path, text }
}
