import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { readAwsAccess } from '../config/sections/sign-in/aws.js'
import { readCredentials } from '../config/values/credentials.js'
import type { ReadSecret } from '../config/values/secret.js'
import { BundleFolder } from '../distribution/bundle-folder.js'
import { fetchOverHttp } from '../distribution/http-bundle.js'
import { PolicySource } from '../distribution/policy-source.js'
import type { SourceParts, SourceSettings } from '../distribution/policy-source.js'
import { recordActivation } from '../distribution/record-activation.js'
import { makeAuthorize } from '../distribution/sign-in.js'
import type { SourceSignIn } from '../distribution/sign-in.js'
import { SourceSet } from '../distribution/source-set.js'
import type { Activation } from '../distribution/source-set.js'
import { AppError, toError } from '../errors/app-error.js'
import { PLATFORM_CREDENTIALS } from '../lib/outbound/address-policy.js'
import { wait } from '../lib/outbound/back-off.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import type { OutboundClient } from '../lib/outbound/outbound-client.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'
import type { Logger } from '../lib/logger.js'
import type { PolicyLocations } from '../rego/index.js'
import type { ServiceStore } from '../store/ports/service-store.js'

const MS_PER_SECOND = 1000
/** In the data directory. */
const FOLDER = 'policy-sources'
/** The operator configured the addresses, so any may be used except those of metadata services. */
const OPERATORS = { allowLoopback: true, allowPrivate: true }

type Configured = Config['policies']['sources'][number]

interface SourcesParts {
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly store: Pick<ServiceStore, 'writer' | 'now'>
}

/** The sources of policies, which poll once `start` is called. */
export interface OpenSources {
  readonly set: SourceSet
  readonly close: () => Promise<void>
}

/** Prepares the configured sources. Throws `invalid` for files that cannot be read. */
export function openSources(config: Config, own: PolicyLocations, parts: SourcesParts): OpenSources {
  const clients: OutboundClient[] = []
  const open = (options: Parameters<typeof makeOutboundClient>): OutboundClient => {
    const client = makeOutboundClient(...options)
    clients.push(client)
    return client
  }
  const { logger } = parts
  const set = new SourceSet(
    (activate) =>
      config.policies.sources.map((source) => makeSource(source, { config, parts, activate, open })),
    {
      own,
      activated: (activation) => recordIt(activation, parts),
      refused: (source, error) =>
        logger.error(
          { source, code: error.code, errors: error.details },
          `a bundle was not loaded; the last good one stays in service: ${error.message}`,
        ),
      notKept: (source, error) =>
        logger.error(
          { source, error: error.message },
          'a bundle serves but cannot be stored for the next start',
        ),
      keptRefused: (error) =>
        logger.error(
          { error: error.message },
          'the stored bundles of the sources do not load; they are downloaded again',
        ),
    },
  )
  return {
    set,
    close: async () => {
      await set.stop()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

async function recordIt(activation: Activation, { logger, store }: SourcesParts): Promise<void> {
  const { source, revision, previous, servedBeforeMs } = activation
  logger.info({ source, revision, previous }, 'a new bundle serves')
  if (servedBeforeMs !== undefined)
    logger.warn(
      { source, revision, servedBefore: new Date(servedBeforeMs).toISOString() },
      'a source went back to a bundle that served before',
    )
  const record = { activation, nowMs: store.now(), user: undefined, origin: `source ${source}` }
  await store.writer.run(recordActivation, record).catch((raw: unknown) => {
    logger.error({ source, error: toError(raw).message }, 'an activation is missing in the audit trail')
  })
}

interface SourceDeps {
  readonly config: Config
  readonly parts: SourcesParts
  readonly activate: SourceParts['activate']
  readonly open: (options: Parameters<typeof makeOutboundClient>) => OutboundClient
}

function makeSource(configured: Configured, deps: SourceDeps): PolicySource {
  const { config, parts, activate, open } = deps
  const { name, url, tlsCa, tlsCertificate, tlsKey } = configured
  const client = open([
    OPERATORS,
    { ca: readPem(tlsCa), cert: readPem(tlsCertificate), key: readPem(tlsKey), connectionsPerOrigin: 4 },
  ])
  const fetch = fetchOverHttp(
    {
      url,
      headers: authHeaders(readCredentials(configured.credentials, parts.readSecret)),
      authorize: authorizeOf(configured, deps),
      timeoutMs: configured.timeoutSeconds * MS_PER_SECOND,
    },
    client,
  )
  return new PolicySource(settingsOf(configured), {
    fetch,
    folder: new BundleFolder(join(config.dataDir, FOLDER, encodeURIComponent(name)), url),
    activate,
    failed: (source, error) =>
      parts.logger.warn({ source, error: error.message }, 'a source of policies gave no bundle'),
    now: Date.now,
    random: Math.random,
    wait,
  })
}

function authorizeOf(
  { name, signIn }: Configured,
  { parts, open }: SourceDeps,
): ReturnType<typeof makeAuthorize> | undefined {
  if (signIn === undefined) return undefined
  const client = open([{ ...OPERATORS, allowedAddresses: PLATFORM_CREDENTIALS }])
  return makeAuthorize(name, readSignIn(signIn, parts.readSecret), {
    client,
    now: () => performance.now(),
    timeOfDay: Date.now,
    wait,
    random: Math.random,
  })
}

function readSignIn(signIn: NonNullable<Configured['signIn']>, readSecret: ReadSecret): SourceSignIn {
  if (signIn.type === 'oauth2') return { ...signIn, clientSecret: readSecret(signIn.clientSecret) }
  const { type, service, region } = signIn
  return { type, service, region, ...readAwsAccess(signIn, readSecret) }
}

function settingsOf(source: Configured): SourceSettings {
  const { name, minDelaySeconds, maxDelaySeconds, longPollSeconds, staleAfterSeconds } = source
  return {
    name,
    minDelayMs: minDelaySeconds * MS_PER_SECOND,
    maxDelayMs: maxDelaySeconds * MS_PER_SECOND,
    longPollMs: longPollSeconds * MS_PER_SECOND,
    staleAfterMs: staleAfterSeconds * MS_PER_SECOND,
    staleIsNotReady: source.staleIsNotReady,
  }
}

function readPem(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `read a file of policies.sources: ${toError(raw).message}`, { cause: raw })
  }
}
