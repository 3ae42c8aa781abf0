import { expect, test } from 'vitest'

import { defineAnalysis } from '../../../src/analysis/runs/define-analysis.js'
import { readRegistration } from '../../../src/analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../src/analysis/runs/register-canary.js'
import { START_MS } from '../../support/analyses.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }

async function register(queryType: string | null) {
  const store = await open()
  const query = { type: queryType, customInlineTemplate: 'cpu ${version}' }
  const canaryConfig = { metrics: [{ name: 'cpu', query }] }
  const document = { metrics: { source: 'prom', canaryConfig } }
  await defineAnalysis(store, { application: 'shop', document, origin: 'api' }, actor)
  const deps = {
    ...store,
    isKnownApplication: () => Promise.resolve(true),
    sources: new Map([['prom', 'prometheus']]),
    schedule: () => undefined,
  }
  return await registerCanary(deps, readRegistration({ application: 'shop' }), actor)
}

test('a canary config for another store than the source is refused, naming both', async () => {
  await expect(register('stackdriver')).rejects.toMatchObject({
    kind: 'conflict',
    message: expect.stringMatching(
      /type stackdriver, but its source prom is of the type prometheus/,
    ) as unknown,
  })
})

test.each(['prometheus', null])('one that says %s of its type is taken', async (type) => {
  await expect(register(type)).resolves.toMatchObject({ application: 'shop' })
})
