import { expect, it } from 'vitest'

import { giveDelegation, listDelegations } from '../../../src/gates/instances/delegations.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const NOW_MS = Date.parse('2027-06-01T12:00:00Z')

it('a delegation removes those that have ended, and no others', async () => {
  const { writer, reader } = await open()
  const give = (to: string, nowMs: number, untilMs: number) =>
    writer.run(giveDelegation, {
      ...{ to, groups: [], reason: 'holiday', untilMs },
      actor: { user: 'ana', origin: 'test', nowMs },
    })
  const stored = async () => (await reader.run(listDelegations, { nowMs: 0 })).map(({ to }) => to)
  await give('bo', NOW_MS, NOW_MS + 10)
  await give('cy', NOW_MS, NOW_MS + 20)
  expect(await stored()).toEqual(['bo', 'cy'])
  await give('di', NOW_MS + 10, NOW_MS + 30)
  expect(await stored()).toEqual(['cy', 'di'])
})
