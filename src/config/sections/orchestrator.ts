import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { CredentialsSchema } from '../values/credentials.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { secretKey } from '../values/secret.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_SECONDS = 3600
const MAX_INTERVAL_SECONDS = 86_400
const MAX_ATTEMPTS = 10

/** Defaults of the orchestrator (section 4.8 of the API specification). */
export const DEFAULT_STORAGE_URL = 'http://127.0.0.1:8080'
const DEFAULT_GATE_URL = 'http://127.0.0.1:8084'

/** Methods to write pipelines to the storage service. */
const STORE_MODES = ['auto', 'contract', 'batch', 'single'] as const
const REFRESH_METHODS = ['POST', 'GET', 'PUT'] as const

const serverUrl = (description: string): z.ZodString =>
  key(z.string().refine(isServerUrl), description, SERVER_URL_TEXT, { isHidden: true })

/** Reload of the accounts in the orchestrator's cloud component. */
const Refresh = z.strictObject({
  url: serverUrl(
    'URL that makes the orchestrator reload account configuration, such as `http://127.0.0.1:7002/config-refresh`. By default none is called.',
  ).optional(),
  method: key(
    z.enum(REFRESH_METHODS).default('POST'),
    'HTTP method of the call.',
    `one of ${REFRESH_METHODS.join(', ')}`,
  ),
})

export const OrchestratorSection = z.strictObject({
  storageUrl: serverUrl(
    `URL of the storage service. The registry is reconciled with it only if this is set. Commands default to ${DEFAULT_STORAGE_URL}.`,
  ).optional(),
  storageCredentials: CredentialsSchema.optional(),
  gateUrl: serverUrl('URL of the gateway, to which webhooks are relayed.').default(DEFAULT_GATE_URL),
  gateCredentials: CredentialsSchema.optional(),
  webhookToken: secretKey(
    'The secret token of webhooks (`X-Gitlab-Token`). Senders must include it, and it is relayed to the gateway.',
  ).optional(),
  githubSecret: secretKey(
    'The secret that signs GitHub webhooks (`X-Hub-Signature-256`). Without it they are refused.',
  ).optional(),
  bitbucketSecret: secretKey(
    'The secret that signs Bitbucket webhooks (`X-Hub-Signature`). Without it they are refused.',
  ).optional(),
  storeMode: key(
    z.enum(STORE_MODES).default('auto'),
    'How pipelines are stored: `contract` posts a list to /pipelines, `batch` posts it to /pipelines/batchUpdate, `single` posts one pipeline at a time to /pipelines, and `auto` detects the method.',
    `one of ${STORE_MODES.join(', ')}`,
  ),
  refresh: Refresh.prefault({}),
  eventsAtRoot: booleanKey(
    false,
    'Whether `POST /` accepts events instead of returning the default decision. Senders whose endpoint is a URL without a path post there, and builds of early 2025 always do.',
  ),
  reconcileIntervalSeconds: wholeNumberKey(
    { min: 10, max: MAX_INTERVAL_SECONDS, default: 300 },
    'How often the registry is compared with the storage service, in seconds.',
  ),
  maxMissingPercent: wholeNumberKey(
    { min: 0, max: 100, default: 50 },
    'How much of the registry may be missing from a list of all pipelines or all applications, in percent. If more is missing (and more than 10 entries), the list is not trusted and nothing is marked as deleted. 100 trusts every list.',
  ),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 30 },
    'How long one request may take, in seconds.',
  ),
  listTimeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 300 },
    'How long reading all pipelines or all applications may take, in seconds.',
  ),
  maxListBytes: byteSizeKey(
    { min: MIB, max: 64 * GIB, default: 2 * GIB },
    'Maximum size of a list of all pipelines or all applications. It is stored in a temporary file while it is read.',
  ),
  maxDefinitionBytes: byteSizeKey(
    { min: KIB, max: GIB, default: 16 * MIB },
    'Maximum size of one pipeline or application in such a list.',
  ),
  attempts: wholeNumberKey(
    { min: 1, max: MAX_ATTEMPTS, default: 3 },
    'Number of attempts of a repeatable request if the orchestrator is busy or unreachable.',
  ),
  allowLoopback: booleanKey(true, 'Whether the orchestrator may be on this machine (127.0.0.0/8, ::1).'),
  allowPrivate: booleanKey(
    true,
    'Whether the orchestrator may be in a private network. Link-local and metadata addresses are always refused.',
  ),
})
