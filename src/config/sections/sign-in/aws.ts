import { z } from 'zod'

import type { Secret } from '../../../lib/outbound/credentials.js'
import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import type { ReadSecret } from '../../values/secret.js'
import { signInUrl } from './sign-in-url.js'

const TYPES = 'one of instance-role, container-role, web-identity'
/** Fixed address of the EC2 instance metadata service. */
const INSTANCE_METADATA = 'http://169.254.169.254'

const type = <T extends string>(name: T): z.ZodLiteral<T> =>
  key(z.literal(name), 'How to obtain an access key.', TYPES)

const AccessKeyFrom = key(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: type('instance-role'),
      url: signInUrl('URL of the EC2 instance metadata service (IMDSv2).').default(INSTANCE_METADATA),
      role: key(
        z
          .string()
          .regex(/^[\w+=,.@-]{1,64}$/)
          .optional(),
        'The role. Defaults to that of the instance.',
        'the name of a role',
      ),
    }),
    z.strictObject({
      type: type('container-role'),
      url: signInUrl(
        'URL of the container credentials: AWS_CONTAINER_CREDENTIALS_FULL_URI, or http://169.254.170.2 followed by AWS_CONTAINER_CREDENTIALS_RELATIVE_URI.',
      ),
      token: secretKey(
        'The Authorization header: AWS_CONTAINER_AUTHORIZATION_TOKEN, or the file in AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE.',
      ).optional(),
    }),
    z.strictObject({
      type: type('web-identity'),
      url: signInUrl('The security token service (STS) of the region.'),
      roleArn: key(
        z.string().regex(/^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/),
        'The role to assume: AWS_ROLE_ARN.',
        'the ARN of a role',
      ),
      token: secretKey('The token of the service account: `{file: …}` with AWS_WEB_IDENTITY_TOKEN_FILE.'),
      sessionName: key(
        z
          .string()
          .regex(/^[\w+=,.@-]{2,64}$/)
          .default('tidegate'),
        'Name of the session in the trail of the account.',
        '2 to 64 letters, digits and +=,.@-',
      ),
    }),
  ]),
  'Source of a temporary access key, in place of a configured one: `{type: instance-role}`, `{type: container-role, url, token}` or `{type: web-identity, url, roleArn, token}`.',
  '{type: instance-role}, {type: container-role, url, token} or {type: web-identity, url, roleArn, token}',
  { isHidden: true },
)

/** Location and credentials of an Amazon source. */
export const aws = {
  region: key(z.string().regex(/^[a-z0-9-]+$/), 'The region.', 'the name of a region, such as eu-central-1'),
  accessKeyId: key(
    z.string().regex(/^\w+$/).optional(),
    'The access key that signs requests, unless `accessKeyFrom` is set.',
    'the id of a key',
  ),
  secretAccessKey: secretKey('The secret of the access key.').optional(),
  sessionToken: secretKey('The session token of a temporary access key.').optional(),
  accessKeyFrom: AccessKeyFrom.optional(),
}

type Configured = z.output<typeof AccessKeyFrom>
interface ConfiguredKeys {
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: Parameters<ReadSecret>[0] | undefined
  readonly sessionToken?: Parameters<ReadSecret>[0] | undefined
  readonly accessKeyFrom?: Readonly<Configured> | undefined
}
type WithSecrets<T> = T extends unknown
  ? Omit<T, 'token'> &
      (T extends { readonly type: 'web-identity' } ? { readonly token: Secret } : object) &
      (T extends { readonly type: 'container-role' } ? { readonly token?: Secret | undefined } : object)
  : never

/** An access key, or its source. */
export interface AwsAccess {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: Secret | undefined
  readonly sessionToken: Secret | undefined
  readonly accessKeyFrom: WithSecrets<Configured> | undefined
}

/**
 * Whether a CloudWatch source has either an access key with its secret or a source of one. True for
 * other types.
 */
export function hasOneAccess(source: ConfiguredKeys & { readonly type: string }): boolean {
  if (!source.type.startsWith('cloudwatch')) return true
  const { accessKeyId, secretAccessKey, sessionToken, accessKeyFrom } = source
  const ofKey = [accessKeyId, secretAccessKey].map((part) => part !== undefined)
  return accessKeyFrom === undefined
    ? !ofKey.includes(false)
    : !ofKey.includes(true) && sessionToken === undefined
}

/** Reads the secrets of an access key, or of its source. Throws as `readSecret`. */
export function readAwsAccess(
  { accessKeyId, secretAccessKey, sessionToken, accessKeyFrom }: ConfiguredKeys,
  readSecret: ReadSecret,
): AwsAccess {
  return {
    accessKeyId,
    secretAccessKey: secretAccessKey && readSecret(secretAccessKey),
    sessionToken: sessionToken && readSecret(sessionToken),
    accessKeyFrom: accessKeyFrom && readFrom(accessKeyFrom, readSecret),
  }
}

function readFrom(from: Readonly<Configured>, readSecret: ReadSecret): WithSecrets<Configured> {
  switch (from.type) {
    case 'instance-role':
      return from
    case 'container-role':
      return { ...from, token: from.token && readSecret(from.token) }
    case 'web-identity':
      return { ...from, token: readSecret(from.token) }
  }
}
