import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { CredentialsSchema } from '../values/credentials.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_SECONDS = 3600
const MAX_INTERVAL_SECONDS = 86_400
const MAX_ATTEMPTS = 10

/** Contract 4.8 and the orchestrator's own defaults. */
export const DEFAULT_STORAGE_URL = 'http://127.0.0.1:8080'
const DEFAULT_GATE_URL = 'http://127.0.0.1:8084'

/** How pipelines are written to the storage service. */
const STORE_MODES = ['auto', 'contract', 'batch', 'single'] as const
const REFRESH_METHODS = ['POST', 'GET', 'PUT'] as const

const serverUrl = (description: string): z.ZodString =>
  key(z.string().refine(isServerUrl), description, SERVER_URL_TEXT, { isHidden: true })

/** The reload of the accounts of the orchestrator's cloud component. */
const Refresh = z.strictObject({
  url: serverUrl(
    'What is called to have account configuration read again, `http://127.0.0.1:7002/config-refresh`; without it nothing is.',
  ).optional(),
  method: key(
    z.enum(REFRESH_METHODS).default('POST'),
    'How it is called.',
    `one of ${REFRESH_METHODS.join(', ')}`,
  ),
})

/** The orchestrator's own endpoints, as this service calls them. */
export const OrchestratorSection = z.strictObject({
  storageUrl: serverUrl(
    `Where the storage service is. The registry is reconciled with it only where this is set; commands take ${DEFAULT_STORAGE_URL} otherwise.`,
  ).optional(),
  storageCredentials: CredentialsSchema.optional(),
  gateUrl: serverUrl('Where the gateway is, which webhooks are passed on to.').default(DEFAULT_GATE_URL),
  gateCredentials: CredentialsSchema.optional(),
  webhookToken: secretKey(
    'The secret token of webhooks (`X-Gitlab-Token`): asked of who sends one, and sent along to the gateway.',
  ).optional(),
  githubSecret: secretKey(
    'What webhooks of GitHub are signed with (`X-Hub-Signature-256`); without it none are taken.',
  ).optional(),
  bitbucketSecret: secretKey(
    'What webhooks of Bitbucket are signed with (`X-Hub-Signature`); without it none are taken.',
  ).optional(),
  storeMode: key(
    z.enum(STORE_MODES).default('auto'),
    'How pipelines are stored: `contract` posts a list to /pipelines, `batch` posts it to /pipelines/batchUpdate, `single` posts one after the other to /pipelines; `auto` finds out.',
    `one of ${STORE_MODES.join(', ')}`,
  ),
  refresh: Refresh.prefault({}),
  eventsAtRoot: key(
    z.boolean().default(false),
    'Whether `POST /` takes events, instead of asking for the default decision: a sender whose endpoint is a URL without a path posts there, and builds of early 2025 always do.',
    'true or false',
  ),
  reconcileIntervalSeconds: key(
    wholeNumber(10, MAX_INTERVAL_SECONDS).default(300),
    'How often the registry is compared with the storage service, in seconds.',
    wholeNumberText(10, MAX_INTERVAL_SECONDS),
  ),
  maxMissingPercent: key(
    wholeNumber(0, 100).default(50),
    'How much of the registry a list of all pipelines, or of all applications, may lack, in percent: one that lacks more (and more than 10) is not believed, and nothing is marked as deleted. 100 believes every list.',
    wholeNumberText(0, 100),
  ),
  timeoutSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(30),
    'How long one request may take.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  listTimeoutSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(300),
    'How long reading all pipelines, or all applications, may take.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxListBytes: key(
    byteSize(MIB, 64 * GIB).default(2 * GIB),
    'How large a list of all pipelines, or of all applications, may be. It is kept in a temporary file while it is read.',
    byteSizeText(MIB, 64 * GIB),
  ),
  maxDefinitionBytes: key(
    byteSize(KIB, GIB).default(16 * MIB),
    'How large one pipeline or application in such a list may be.',
    byteSizeText(KIB, GIB),
  ),
  attempts: key(
    wholeNumber(1, MAX_ATTEMPTS).default(3),
    'How often a request is made that may be repeated, when the orchestrator is busy or out of reach.',
    wholeNumberText(1, MAX_ATTEMPTS),
  ),
  allowLoopback: key(
    z.boolean().default(true),
    'Whether the orchestrator may be on this machine itself (127.0.0.0/8, ::1).',
    'true or false',
  ),
  allowPrivate: key(
    z.boolean().default(true),
    'Whether the orchestrator may be in a private network. Link-local and metadata addresses are never asked.',
    'true or false',
  ),
})
