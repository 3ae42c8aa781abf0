import { describe, expect, it } from 'vitest'

import { loadConfig } from '../../../src/config/load-config.js'
import { Secret } from '../../../src/lib/outbound/credentials.js'
import { readOrchestratorSettings } from '../../../src/orchestrator/settings.js'

const settingsFor = (env: Record<string, string>) =>
  readOrchestratorSettings(loadConfig({ env }).orchestrator, () => new Secret('t'))

describe('where the orchestrator is', () => {
  it('is this machine by default, with an unknown storage service', () => {
    expect(loadConfig({ env: {} }).orchestrator.storageUrl).toBeUndefined()
    expect(settingsFor({})).toMatchObject({
      storageUrl: 'http://127.0.0.1:8080',
      gateUrl: 'http://127.0.0.1:8084',
      webhookToken: undefined,
      storeMode: 'auto',
      refresh: { url: undefined, method: 'POST' },
      timeoutMs: 30_000,
    })
  })

  it('is given by URLs with or without a trailing slash', () => {
    expect(
      settingsFor({
        TIDEGATE_ORCHESTRATOR_STORAGE_URL: 'https://front50.example.org/api/',
        TIDEGATE_ORCHESTRATOR_REFRESH_URL: 'http://127.0.0.1:7002/config-refresh',
        TIDEGATE_ORCHESTRATOR_REFRESH_METHOD: 'PUT',
      }),
    ).toMatchObject({
      storageUrl: 'https://front50.example.org/api',
      refresh: { url: 'http://127.0.0.1:7002/config-refresh', method: 'PUT' },
    })
  })

  it.each(['front50:8080', 'ftp://x', 'http://user:secret@x', 'http://x/?a=b'])('cannot be %s', (url) => {
    expect(() => settingsFor({ TIDEGATE_ORCHESTRATOR_STORAGE_URL: url })).toThrow(/configuration/)
  })
})
