import { createPrivateKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { z } from 'zod'

import type { Secret } from '../../../lib/outbound/credentials.js'
import type { GoogleIdentity, StackdriverSettings } from '../answers/source-settings.js'
import type { SourceRequest } from '../answers/source-connection.js'

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const SCOPE = 'https://www.googleapis.com/auth/monitoring.read'
const LIFETIME_SECONDS = 3600
const MS_PER_SECOND = 1000

const KeyFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  project_id: z.string().min(1),
  token_uri: z.url(),
})

/** A service account, its key read. */
export interface ServiceAccount {
  readonly email: string
  readonly key: KeyObject
  readonly keyId: string | undefined
  readonly project: string
  readonly tokenUrl: string
}

/** The service account of a key file. An error message without its contents if it is not one. */
export function readServiceAccount(secret: Secret): ServiceAccount | string {
  const file = KeyFile.safeParse(parseJson(secret.reveal()))
  if (!file.success) {
    const members = file.error.issues.map(({ path }) => path.join('.') || 'its JSON')
    return `serviceAccount is not the key file of a service account (see ${members.join(', ')}): download one in the JSON format`
  }
  const { client_email: email, private_key: pem, private_key_id: keyId } = file.data
  const key = readKey(pem)
  if (key === undefined) return 'the private_key of serviceAccount is no RSA key in PEM'
  return { email, key, keyId, project: file.data.project_id, tokenUrl: file.data.token_uri }
}

/**
 * The queried project: the named one, else that of the service account. If neither can be read, no
 * request is sent.
 */
export function projectOf({ project, serviceAccount }: StackdriverSettings): string {
  if (project !== undefined) return project
  const account = serviceAccount === undefined ? '' : readServiceAccount(serviceAccount)
  return typeof account === 'string' ? '-' : account.project
}

/**
 * The request for a token: a statement signed with the account's key (RFC 7523), valid for an hour.
 */
export function googleTokenRequest(
  { email, key, keyId, tokenUrl }: ServiceAccount,
  nowMs: number,
): SourceRequest {
  const issued = Math.floor(nowMs / MS_PER_SECOND)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) }
  const claims = {
    ...{ iss: email, scope: SCOPE, aud: tokenUrl },
    ...{ iat: issued, exp: issued + LIFETIME_SECONDS },
  }
  const signed = [header, claims].map((part) => base64Url(Buffer.from(JSON.stringify(part)))).join('.')
  const signature = base64Url(sign('sha256', Buffer.from(signed), key))
  return { method: 'POST', path: '', form: { grant_type: GRANT, assertion: `${signed}.${signature}` } }
}

/**
 * The request for a token of the service account of a machine or pod. Web pages cannot send this
 * header.
 */
export function metadataTokenRequest({ account }: GoogleIdentity): SourceRequest {
  return {
    method: 'GET',
    path: `/computeMetadata/v1/instance/service-accounts/${account}/token`,
    search: { scopes: SCOPE },
    headers: { 'metadata-flavor': 'Google' },
  }
}

function base64Url(bytes: Buffer): string {
  return bytes.toString('base64url')
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? key : undefined
  } catch {
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
