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

/** The flags that name a running service. */
export interface AddressOptions extends TransportOptions {
  readonly url?: string
  readonly tokenFile?: string
}

/** The flags of a command that asks a running service. */
export interface ServiceOptions extends OutputOptions, AddressOptions {}

/** Where the service is, and who asks. */
export interface ServiceAddress {
  /** Without a trailing slash. */
  readonly url: string
  /** Where that is, as a person names it: the URL, or the path of a socket. */
  readonly shown: string
  readonly token: string | undefined
  /** What sends requests to it. */
  readonly fetch: Fetch
  /** Gives what sends requests to it without the certificate. */
  readonly openUnknown: () => Promise<Fetch>
  /** Gives what sends requests to wherever else the service says that it is. */
  readonly openElsewhere: () => Promise<Fetch>
}

const DEFAULT_URL = 'http://127.0.0.1:8181'

/** Adds the flags that name the service, and those that every command has. `forms` are those of the file that it writes. */
export function addServiceOptions(command: Command, forms?: readonly string[]): Command {
  return addOutputOptions(command, forms)
    .option('--url <url>', `the running service (else ${CLIENT_VARIABLES.url}, else ${DEFAULT_URL})`)
    .option('--token-file <file>', `a file that holds the bearer token (else ${CLIENT_VARIABLES.token})`)
    .option('--ca-file <file>', `who may have signed the service's certificate (else ${CLIENT_VARIABLES.ca})`)
    .option(
      '--client-certificate <file>',
      `a certificate to show in place of a token (else ${CLIENT_VARIABLES.certificate})`,
    )
    .option('--client-key <file>', `its key (else ${CLIENT_VARIABLES.key})`)
}

/** Which service to ask, by flags and environment; `otherwise` where they name none. Raises `invalid` for what is no URL or no token. */
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
      `--url (or ${CLIENT_VARIABLES.url}) must be ${SERVER_URL_TEXT}, or unix:PATH for a socket: a token is given with --token-file or ${CLIENT_VARIABLES.token}`,
    )
  }
  const { token: variable } = CLIENT_VARIABLES
  const token = tokenFile === undefined ? nonEmpty(env[variable]) : await readToken(tokenFile)
  if (token !== undefined && !/^[!-~]+$/.test(token)) {
    throw new AppError(
      'invalid',
      `${tokenFile ?? variable} does not hold a token: it must be one word of ASCII letters, digits and signs`,
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

/** The path of `unix:PATH`, as `server.addr` has it. */
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
