import { expect, test } from 'vitest'

import type { DecisionFiles } from '../../../../src/store/sqlite/decisions/decision-files.js'
import { RenewedDecisionStore } from '../../../../src/store/sqlite/decisions/renewed-decision-store.js'

test('a decision log whose file is well again is not begun again', async () => {
  const close = (): Promise<void> => Promise.resolve()
  const files = { writer: { close }, store: { close }, watch: { close }, files: [] }
  let changed: (problem: string | undefined) => void = () => undefined
  const store = await RenewedDecisionStore.open({
    open: (told) => {
      changed = told
      return Promise.resolve(files as unknown as DecisionFiles<never, never>)
    },
    now: () => 0,
  })
  changed(undefined)
  await store.close()
  expect([store.timesRenewed, store.problem]).toEqual([0, undefined])
})
