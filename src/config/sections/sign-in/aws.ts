import { z } from 'zod'

import type { Secret } from '../../../lib/outbound/credentials.js'
import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import type { ReadSecret } from '../../values/secret.js'
import { signInUrl } from './sign-in-url.js'

const TYPES = 'one of instance-role, container-role, web-identity'
/** Amazon's fixed address of what tells an instance of EC2 who it is. */
const INSTANCE_METADATA = 'http://169.254.169.254'

const type = <T extends string>(name: T): z.ZodLiteral<T> =>
  key(z.literal(name), 'Who is told an access key.', TYPES)

const AccessKeyFrom = key(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: type('instance-role'),
      url: signInUrl('Where an instance of EC2 is told its credentials (IMDSv2).').default(INSTANCE_METADATA),
      role: key(
        z
          .string()
          .regex(/^[\w+=,.@-]{1,64}$/)
          .optional(),
        'The role, where it is not the one of the instance.',
        'the name of a role',
      ),
    }),
    z.strictObject({
      type: type('container-role'),
      url: signInUrl(
        'Where a container is told its credentials: AWS_CONTAINER_CREDENTIALS_FULL_URI, or http://169.254.170.2 with AWS_CONTAINER_CREDENTIALS_RELATIVE_URI behind it.',
      ),
      token: secretKey(
        'What is sent as Authorization: AWS_CONTAINER_AUTHORIZATION_TOKEN, or the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE.',
      ).optional(),
    }),
    z.strictObject({
      type: type('web-identity'),
      url: signInUrl('The security token service (STS) of the region.'),
      roleArn: key(
        z.string().regex(/^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/),
        'The role that is taken: AWS_ROLE_ARN.',
        'the ARN of a role',
      ),
      token: secretKey('The token of the service account: `{file: …}` with AWS_WEB_IDENTITY_TOKEN_FILE.'),
      sessionName: key(
        z
          .string()
          .regex(/^[\w+=,.@-]{2,64}$/)
          .default('tidegate'),
        'What the trail of the account calls the session.',
        '2 to 64 letters, digits and +=,.@-',
      ),
    }),
  ]),
  'Where an access key comes from that ends after a while, in place of one that is written here: `{type: instance-role}`, `{type: container-role, url, token}` or `{type: web-identity, url, roleArn, token}`.',
  '{type: instance-role}, {type: container-role, url, token} or {type: web-identity, url, roleArn, token}',
  { isHidden: true },
)

/** Where a source of Amazon's is, and by what its requests are signed. */
export const aws = {
  region: key(z.string().regex(/^[a-z0-9-]+$/), 'The region.', 'the name of a region, such as eu-central-1'),
  accessKeyId: key(
    z.string().regex(/^\w+$/).optional(),
    'The access key by which requests are signed, unless `accessKeyFrom` says where one comes from.',
    'the id of a key',
  ),
  secretAccessKey: secretKey('The secret of the access key.').optional(),
  sessionToken: secretKey('The session that the access key is of, where it is temporary.').optional(),
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

/** An access key, or where one is had. */
export interface AwsAccess {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: Secret | undefined
  readonly sessionToken: Secret | undefined
  readonly accessKeyFrom: WithSecrets<Configured> | undefined
}

/** Whether there is either an access key with its secret or a place where one comes from; of other sources, too. */
export function hasOneAccess(source: ConfiguredKeys & { readonly type: string }): boolean {
  if (!source.type.startsWith('cloudwatch')) return true
  const { accessKeyId, secretAccessKey, sessionToken, accessKeyFrom } = source
  const ofKey = [accessKeyId, secretAccessKey].map((part) => part !== undefined)
  return accessKeyFrom === undefined
    ? !ofKey.includes(false)
    : !ofKey.includes(true) && sessionToken === undefined
}

/** The secrets of an access key, or of the way to one. Raises as `readSecret`. */
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
