import type { Config } from '../config/config.js'
import { readCredentials } from '../config/values/credentials.js'
import { DEFAULT_STORAGE_URL } from '../config/sections/orchestrator.js'
import type { ReadSecret } from '../config/values/secret.js'
import type { Credentials, Secret } from '../lib/outbound/credentials.js'

/** How pipelines are written; see `orchestrator.storeMode`. */
export type StoreMode = 'contract' | 'batch' | 'single'

/** Connection settings of the orchestrator, with the secrets that the configuration names. */
export interface OrchestratorSettings {
  /** Without a trailing slash, like all URLs here. */
  readonly storageUrl: string
  readonly storageCredentials: Credentials | undefined
  readonly gateUrl: string
  readonly gateCredentials: Credentials | undefined
  readonly webhookToken: Secret | undefined
  /** Secrets of signatures from GitHub and Bitbucket. */
  readonly githubSecret: Secret | undefined
  readonly bitbucketSecret: Secret | undefined
  readonly storeMode: StoreMode | 'auto'
  readonly refresh: { readonly url: string | undefined; readonly method: 'POST' | 'GET' | 'PUT' }
  /** A list that lacks more of the known entries is rejected. */
  readonly maxMissingPercent: number
  readonly timeoutMs: number
  readonly listTimeoutMs: number
  readonly maxListBytes: number
  readonly maxDefinitionBytes: number
  readonly attempts: number
}

/** Reads the settings of a configuration. Raises as `readSecret`. */
export function readOrchestratorSettings(
  config: Config['orchestrator'],
  readSecret: ReadSecret,
): OrchestratorSettings {
  const { refresh, webhookToken, storeMode, maxListBytes, maxDefinitionBytes, attempts } = config
  return {
    storageUrl: withoutSlash(config.storageUrl ?? DEFAULT_STORAGE_URL),
    storageCredentials: readCredentials(config.storageCredentials, readSecret),
    gateUrl: withoutSlash(config.gateUrl),
    gateCredentials: readCredentials(config.gateCredentials, readSecret),
    webhookToken: webhookToken && readSecret(webhookToken),
    githubSecret: config.githubSecret && readSecret(config.githubSecret),
    bitbucketSecret: config.bitbucketSecret && readSecret(config.bitbucketSecret),
    storeMode,
    refresh: { url: refresh.url, method: refresh.method },
    maxMissingPercent: config.maxMissingPercent,
    timeoutMs: config.timeoutSeconds * 1000,
    listTimeoutMs: config.listTimeoutSeconds * 1000,
    maxListBytes,
    maxDefinitionBytes,
    attempts,
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
