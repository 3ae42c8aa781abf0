import { readFile } from 'node:fs/promises'

import type { ConnectionParts } from '../../analysis/sources/answers/source-connection.js'
import { AppError, toError } from '../../errors/app-error.js'
import { PLATFORM_CREDENTIALS } from '../../lib/outbound/address-policy.js'
import { wait } from '../../lib/outbound/back-off.js'
import { makeOutboundClient } from '../../lib/outbound/outbound-client.js'
import type { OutboundClient, OutboundResponse } from '../../lib/outbound/outbound-client.js'
import type { BundleLocation, ServerAccess } from './bundle-location.js'
import type { FetchBundle } from './fetch-bundle.js'
import { fetchFromFile } from './file-bundle.js'
import { fetchFromGit } from './git-bundle.js'
import { fetchOverHttp } from './http-bundle.js'
import type { Authorize } from './http-bundle.js'
import { fetchFromRegistry } from './oci-bundle.js'
import { makeAuthorize } from './sign-in.js'

/** The operator configured the addresses, so any may be used except those of metadata services. */
const OPERATORS = { allowLoopback: true, allowPrivate: true }
const CONNECTIONS = 4
/** Of an answer to a `post`. */
const MAX_ANSWER_BYTES = 65_536

/** A way to fetch, and the function that closes its connections. */
export interface OpenFetch {
  readonly fetch: FetchBundle
  readonly close: () => Promise<void>
}

/** Returns how to fetch the bundle of a source. `folder` is for working copies. */
export function makeFetch(name: string, location: BundleLocation, folder: string): OpenFetch {
  if (location.type === 'file') return withoutConnections(fetchFromFile(location.path))
  if (location.type === 'git') return withoutConnections(fetchFromGit({ ...location, folder }))
  return location.type === 'oci' ? openRegistry(location) : openBundleServer(name, location)
}

function withoutConnections(fetch: FetchBundle): OpenFetch {
  return { fetch, close: () => Promise.resolve() }
}

function openRegistry(location: Extract<BundleLocation, { type: 'oci' }>): OpenFetch {
  const { access } = location
  const registry = makeOutboundClient(OPERATORS, { ...access.tls, connectionsPerOrigin: CONNECTIONS })
  // The registry chooses these addresses.
  const storage = makeOutboundClient({ allowLoopback: false, allowPrivate: false })
  return {
    fetch: fetchFromRegistry({ ...location, ...access }, { registry, storage }),
    close: async () => {
      await Promise.all([registry.close(), storage.close()])
    },
  }
}

function openBundleServer(name: string, location: Extract<BundleLocation, { type: 'http' }>): OpenFetch {
  const { url, access } = location
  const { client, authorize, close } = openServer(name, access)
  const { headers, timeoutMs } = access
  return { fetch: fetchOverHttp({ url, headers, authorize, timeoutMs }, client), close }
}

/** A connection to a server, and the function that closes it. */
export interface OpenServer {
  readonly client: OutboundClient
  readonly authorize: Authorize | undefined
  /** Sends a body with headers about it. Rejects as `OutboundClient.send`. */
  readonly post: (url: string, message: Message, signal: AbortSignal) => Promise<OutboundResponse>
  readonly close: () => Promise<void>
}

interface Message {
  readonly body: string | Uint8Array
  readonly content: Readonly<Record<string, string>>
}

/** Opens a connection to a configured server. `name` introduces errors of the sign-in. */
export function openServer(name: string, access: ServerAccess): OpenServer {
  const client = makeOutboundClient(OPERATORS, { ...access.tls, connectionsPerOrigin: CONNECTIONS })
  // Requests for credentials may go to the metadata services of a platform.
  const signInClient = makeOutboundClient({ ...OPERATORS, allowedAddresses: PLATFORM_CREDENTIALS })
  const authorize = authorizeOf(name, access, signInClient)
  const { headers, timeoutMs } = access
  return {
    ...{ client, authorize },
    post: async (url, { body, content }, signal) => {
      const sign = await authorize?.(signal)
      const signed = sign?.({ method: 'POST', url: new URL(url), headers: content, body })
      return await client.send({
        ...{ method: 'POST', url, headers: { ...headers, ...content, ...signed }, body, signal, timeoutMs },
        ...{ maxResponseBytes: MAX_ANSWER_BYTES, maxRefusalBytes: MAX_ANSWER_BYTES },
      })
    },
    close: async () => {
      await Promise.all([client.close(), signInClient.close()])
    },
  }
}

function authorizeOf(
  name: string,
  { signIn, tokenFile }: ServerAccess,
  client: OutboundClient,
): Authorize | undefined {
  if (tokenFile !== undefined) return () => readToken(tokenFile)
  if (signIn === undefined) return undefined
  const parts: ConnectionParts = {
    client,
    now: () => performance.now(),
    timeOfDay: Date.now,
    wait,
    random: Math.random,
  }
  return makeAuthorize(name, signIn, parts)
}

/** Read for each request, because platforms replace such files. */
async function readToken({ path, scheme }: NonNullable<ServerAccess['tokenFile']>): ReturnType<Authorize> {
  const token = await readFile(path, 'utf8').catch((raw: unknown) => {
    throw new AppError('unavailable', `the token cannot be read: ${toError(raw).message}`, { cause: raw })
  })
  const headers = { authorization: `${scheme} ${token.trim()}` }
  return () => headers
}
