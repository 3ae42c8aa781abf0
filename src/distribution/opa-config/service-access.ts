import { readFileSync } from 'node:fs'

import { AppError } from '../../errors/app-error.js'
import { Secret } from '../../lib/outbound/credentials.js'
import type { SourceSignIn } from '../fetching/sign-in.js'
import type { ServerAccess } from '../fetching/bundle-location.js'
import type { OpaCredentials, OpaService } from './opa-config-schema.js'

const MS_PER_SECOND = 1000
const INSTANCE_METADATA = 'http://169.254.169.254'
const CONTAINER_CREDENTIALS = 'http://169.254.170.2'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns how requests to a service are sent. Raises `invalid` for credentials without support. */
export function accessOf(service: OpaService, env: Environment): ServerAccess {
  const { headers, credentials, tls } = service
  const supported = new Set(['bearer', 'client_tls', 'oauth2', 's3_signing'])
  const other = Object.keys(credentials).find((name) => !supported.has(name))
  if (other !== undefined)
    throw new AppError(
      'invalid',
      `credentials.${other} are not supported: use bearer, client_tls, oauth2 or s3_signing`,
    )
  const { bearer, client_tls: clientTls } = credentials
  const path = bearer?.token_path
  return {
    headers: {
      ...headers,
      ...(bearer?.token !== undefined && {
        authorization: `${bearer.scheme} ${tokenText(service, bearer.token)}`,
      }),
    },
    signIn: signInOf(credentials, env),
    tokenFile: path === undefined ? undefined : { path, scheme: bearer?.scheme ?? 'Bearer' },
    tls: {
      ca: tls.ca_cert === undefined ? undefined : readFileSync(tls.ca_cert, 'utf8'),
      cert: clientTls && readFileSync(clientTls.cert, 'utf8'),
      key: clientTls && readFileSync(clientTls.private_key, 'utf8'),
    },
    timeoutMs: service.response_header_timeout_seconds * MS_PER_SECOND,
  }
}

/** For registries, OPA encodes the user and password of the scheme Basic. */
function tokenText({ type, credentials }: OpaService, token: string): string {
  const isPair = type === 'oci' && credentials.bearer?.scheme === 'Basic'
  return isPair ? Buffer.from(token).toString('base64') : token
}

function signInOf({ oauth2, s3_signing: aws }: OpaCredentials, env: Environment): SourceSignIn | undefined {
  if (oauth2 !== undefined) {
    if (oauth2.grant_type !== 'client_credentials')
      throw new AppError('invalid', `oauth2 with grant_type ${oauth2.grant_type} is not supported`)
    const { token_url: tokenUrl, client_id: clientId, client_secret: secret, scopes } = oauth2
    return { type: 'oauth2', tokenUrl, clientId, clientSecret: new Secret(secret), scopes }
  }
  return aws === undefined ? undefined : awsSignIn(aws, env)
}

/** The variables are those of OPA's `s3_signing`. */
function awsSignIn(
  {
    service,
    environment_credentials: fromEnvironment,
    metadata_credentials: metadata,
    web_identity_credentials: web,
  }: NonNullable<OpaCredentials['s3_signing']>,
  env: Environment,
): SourceSignIn {
  const need = (name: string): string => {
    const value = env[name]
    if (value) return value
    throw new AppError('invalid', `s3_signing needs the environment variable ${name}`)
  }
  const region = metadata?.aws_region ?? web?.aws_region ?? need('AWS_REGION')
  const common = { type: 'aws', service, region } as const
  if (web) {
    const token = new Secret(readFileSync(need('AWS_WEB_IDENTITY_TOKEN_FILE'), 'utf8'))
    const session = { roleArn: need('AWS_ROLE_ARN'), sessionName: web.session_name, token }
    const url = `https://sts.${region}.amazonaws.com`
    return { ...common, accessKeyFrom: { type: 'web-identity', url, ...session } }
  }
  if (metadata) {
    const path = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
    return path === undefined
      ? {
          ...common,
          accessKeyFrom: { type: 'instance-role', url: INSTANCE_METADATA, role: metadata.iam_role },
        }
      : { ...common, accessKeyFrom: { type: 'container-role', url: `${CONTAINER_CREDENTIALS}${path}` } }
  }
  if (!fromEnvironment)
    throw new AppError(
      'invalid',
      's3_signing needs environment_credentials, metadata_credentials or web_identity_credentials',
    )
  const session = env['AWS_SESSION_TOKEN'] ?? env['AWS_SECURITY_TOKEN']
  return {
    ...common,
    accessKeyId: need('AWS_ACCESS_KEY_ID'),
    secretAccessKey: new Secret(need('AWS_SECRET_ACCESS_KEY')),
    ...(session !== undefined && { sessionToken: new Secret(session) }),
  }
}
