import { resolve } from 'node:path'

import type { Config } from '../config/config.js'
import { readAwsAccess } from '../config/sections/sign-in/aws.js'
import { readCredentials } from '../config/values/credentials.js'
import { readPem } from './files/read-pem.js'
import type { ReadSecret } from '../config/values/secret.js'
import type { SourceSignIn } from '../distribution/fetching/sign-in.js'
import { placeOf } from '../distribution/fetching/bundle-location.js'
import type { BundleLocation, ServerAccess } from '../distribution/fetching/bundle-location.js'
import type { SourceDefinition } from '../distribution/source-definition.js'
import { authHeaders } from '../lib/outbound/credentials.js'

const MS_PER_SECOND = 1000

type Configured = Config['policies']['sources'][number]
/** The access to a server of policies or decisions. */
type ConfiguredServer = Pick<
  Extract<Configured, { type: 'oci' }>,
  'tlsCa' | 'tlsCertificate' | 'tlsKey' | 'credentials' | 'timeoutSeconds'
> &
  Pick<Partial<Extract<Configured, { type: 'http' }>>, 'signIn'>

/** Returns a source of `policies.sources`. Throws `invalid` for files that cannot be read. */
export function definitionOfSource(source: Configured, readSecret: ReadSecret): SourceDefinition {
  const { name, minDelaySeconds, maxDelaySeconds, staleAfterSeconds, staleIsNotReady } = source
  const location = locationOf(source, readSecret)
  return {
    name,
    place: placeOf(location),
    minDelayMs: minDelaySeconds * MS_PER_SECOND,
    maxDelayMs: maxDelaySeconds * MS_PER_SECOND,
    longPollMs: source.type === 'http' ? source.longPollSeconds * MS_PER_SECOND : 0,
    staleAfterMs: staleAfterSeconds * MS_PER_SECOND,
    staleIsNotReady,
    location,
  }
}

function locationOf(source: Configured, readSecret: ReadSecret): BundleLocation {
  if (source.type === 'git') {
    const { type, url, ref, directory, allowedSigners, timeoutSeconds } = source
    const signers = allowedSigners === undefined ? undefined : resolve(allowedSigners)
    return { type, url, ref, directory, allowedSigners: signers, timeoutMs: timeoutSeconds * MS_PER_SECOND }
  }
  const access = readAccess(source, readSecret)
  if (source.type === 'http') return { type: 'http', url: source.url, access }
  const { type, url, repository, reference, tokenServer } = source
  return { type, url, repository, reference, tokenServer, access }
}

/**
 * Reads the access to a server, which is in a section of the configuration. Throws `invalid` for
 * files that cannot be read.
 */
export function readAccess(
  source: ConfiguredServer,
  readSecret: ReadSecret,
  section: 'policies.sources' | 'decisions.sinks' | 'status' = 'policies.sources',
): ServerAccess {
  const { credentials, signIn, tlsCa, tlsCertificate, tlsKey, timeoutSeconds } = source
  return {
    headers: authHeaders(readCredentials(credentials, readSecret)),
    signIn: signIn && readSignIn(signIn, readSecret),
    tls: {
      ca: readPem(`${section}.tlsCa`, tlsCa),
      cert: readPem(`${section}.tlsCertificate`, tlsCertificate),
      key: readPem(`${section}.tlsKey`, tlsKey),
    },
    timeoutMs: timeoutSeconds * MS_PER_SECOND,
  }
}

function readSignIn(
  signIn: NonNullable<Extract<Configured, { type: 'http' }>['signIn']>,
  readSecret: ReadSecret,
): SourceSignIn {
  if (signIn.type === 'oauth2') return { ...signIn, clientSecret: readSecret(signIn.clientSecret) }
  const { type, service, region } = signIn
  return { type, service, region, ...readAwsAccess(signIn, readSecret) }
}
