import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'

import { parseListenAddress } from '../../config/sections/listen-address.js'
import { CLIENT_VARIABLES, SERVER_URL_TEXT, isServerUrl } from '../../config/values/server-url.js'
import { AppError, toError } from '../../errors/app-error.js'
import { addOutputOptions } from './shared-options.js'
import type { OutputOptions } from './shared-options.js'
import type { Terminal } from './terminal.js'
import { certificateIn, certificateWithKey } from '../../lib/validation/pem-files.js'
import type { PemFile } from '../../lib/validation/pem-files.js'
export interface AddressOptions extends TransportOptions {
  readonly url?: string
  readonly tokenFile?: string
}
export interface ServiceOptions extends OutputOptions, AddressOptions {}

/** Address and credentials of a service. */
export interface ServiceAddress {
  readonly url: string
  /** URL or socket path, as shown to people. */
  readonly shown: string
  readonly token: string | undefined
  /** Sends requests to the service. */
  readonly fetch: Fetch
  /** Creates a fetch function without the client certificate. */
  readonly openUnknown: () => Promise<Fetch>
  /** Creates a fetch function for other addresses of the service. */
  readonly openElsewhere: () => Promise<Fetch>
}

const DEFAULT_URL = 'http://127.0.0.1:8181'

/**
 * Adds the flags for the address, and those of every command. `forms` are the formats of the file
 * that the command writes.
 */
export function addServiceOptions(command: Command, forms?: readonly string[]): Command {
  return addOutputOptions(command, forms)
    .option(
      '--url <url>',
      `URL of the running service (default: ${CLIENT_VARIABLES.url}, then ${DEFAULT_URL})`,
    )
    .option('--token-file <file>', `file with the bearer token (default: ${CLIENT_VARIABLES.token})`)
    .option('--ca-file <file>', `CA of the service's certificate (default: ${CLIENT_VARIABLES.ca})`)
    .option(
      '--client-certificate <file>',
      `client certificate, instead of a token (default: ${CLIENT_VARIABLES.certificate})`,
    )
    .option('--client-key <file>', `key of the client certificate (default: ${CLIENT_VARIABLES.key})`)
}

/**
 * Returns the address given by flags and environment, `otherwise` by default. Raises `invalid` for
 * a malformed URL or token.
 */
export async function serviceAddress(
  { url, tokenFile, caFile, clientCertificate, clientKey }: AddressOptions,
  { env }: Terminal,
  otherwise = DEFAULT_URL,
): Promise<ServiceAddress> {
  const given = url ?? nonEmpty(env[CLIENT_VARIABLES.url]) ?? otherwise
  const socketPath = socketOf(given)
  if (socketPath === undefined && !isServerUrl(given)) {
    throw new AppError(
      'invalid',
      `--url (or ${CLIENT_VARIABLES.url}) must be ${SERVER_URL_TEXT}, or unix:PATH for a socket; pass a token with --token-file or ${CLIENT_VARIABLES.token}`,
    )
  }
  const { token: variable } = CLIENT_VARIABLES
  const token = tokenFile === undefined ? nonEmpty(env[variable]) : await readToken(tokenFile)
  if (token !== undefined && !/^[!-~]+$/.test(token)) {
    throw new AppError(
      'invalid',
      `${tokenFile ?? variable} contains no token: it must be one word of printable ASCII characters`,
    )
  }
  const files = {
    caFile: caFile ?? nonEmpty(env[CLIENT_VARIABLES.ca]),
    clientCertificate: clientCertificate ?? nonEmpty(env[CLIENT_VARIABLES.certificate]),
    clientKey: clientKey ?? nonEmpty(env[CLIENT_VARIABLES.key]),
  }
  const serverUrl = socketPath === undefined ? given.replace(/\/+$/, '') : 'http://localhost'
  return {
    url: serverUrl,
    shown: socketPath === undefined ? serverUrl : given,
    token,
    fetch: await openTransport(files, socketPath),
    openUnknown: () => openTransport({ caFile: files.caFile }, socketPath),
    openElsewhere: () => openTransport({ caFile: files.caFile }),
  }
}

/** Returns the path of `unix:PATH`, the format of `server.addr`. */
function socketOf(url: string): string | undefined {
  const address = url.startsWith('unix:') ? parseListenAddress(url) : undefined
  return address !== undefined && 'path' in address ? address.path : undefined
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  return trimmed === '' ? undefined : trimmed
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('invalid', `cannot read the token: ${toError(cause).message}`, { cause })
  })
  return text.trim()
}

/** Transport options: a socket, a CA, or a client certificate. */
export interface TransportOptions {
  readonly caFile?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

/** A function like `fetch`. */
export type Fetch = (target: string, init: RequestInit) => Promise<Response>

/**
 * Creates a fetch function; node's own without options. Raises `invalid` for unreadable files and
 * for a certificate without its key.
 */
async function openTransport(options: TransportOptions, socketPath?: string): Promise<Fetch> {
  const { caFile, clientCertificate, clientKey } = options
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw new AppError('invalid', '--client-certificate and --client-key must be given together')
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
