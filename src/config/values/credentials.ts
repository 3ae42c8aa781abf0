import { z } from 'zod'

import type { Credentials } from '../../lib/outbound/credentials.js'
import { key } from './key.js'
import { secretKey } from './secret.js'
import type { ReadSecret } from './secret.js'

const MAX_HEADERS = 8
const TYPES = 'one of bearer, basic, header, headers'
const type = <T extends string>(name: T): z.ZodLiteral<T> => key(z.literal(name), 'How to sign in.', TYPES)

/** Returns new schemas each time, because descriptions are registered by schema. */
function header() {
  return {
    name: key(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
      'The header.',
      'the name of a header, such as PRIVATE-TOKEN',
    ),
    value: secretKey('The value of the header.'),
  }
}

/** Credentials for another service. The secrets are stored elsewhere. */
export const CredentialsSchema = key(
  z.discriminatedUnion('type', [
    z.strictObject({ type: type('bearer'), token: secretKey('The token.') }),
    z.strictObject({
      type: type('basic'),
      username: key(
        z.string().regex(/^[^:\p{Cc}]+$/u),
        'The user name.',
        'a name without colons and line breaks',
      ),
      password: secretKey('The password or API token.'),
    }),
    z.strictObject({ type: type('header'), ...header() }),
    z.strictObject({
      type: type('headers'),
      headers: key(
        z.array(z.strictObject(header())).min(1).max(MAX_HEADERS).readonly(),
        'The headers, where one is not enough.',
        `a list of 1 to ${MAX_HEADERS} {name, value}`,
      ),
    }),
  ]),
  'How to sign in: `{type: bearer, token}`, `{type: basic, username, password}`, `{type: header, name, value}` or `{type: headers, headers: [{name, value}]}`; each secret is `{env: NAME}` or `{file: PATH}`.',
  '{type: bearer, token}, {type: basic, username, password}, {type: header, name, value} or {type: headers, headers}',
  { isHidden: true },
)

type CredentialsConfig = z.output<typeof CredentialsSchema>

/**
 * Returns credentials with their secrets. Undefined if none are configured. Throws as `readSecret`.
 */
export function readCredentials(
  configured: Readonly<CredentialsConfig> | undefined,
  readSecret: ReadSecret,
): Credentials | undefined {
  switch (configured?.type) {
    case undefined:
      return undefined
    case 'bearer':
      return { type: 'bearer', token: readSecret(configured.token) }
    case 'basic':
      return { type: 'basic', username: configured.username, password: readSecret(configured.password) }
    case 'header':
      return { type: 'header', name: configured.name, value: readSecret(configured.value) }
    case 'headers':
      return {
        type: 'headers',
        headers: configured.headers.map(({ name, value }) => ({ name, value: readSecret(value) })),
      }
  }
}
