import { expect, test } from 'vitest'

import { checkTemplate } from '../../../src/analysis/runs/plan-run.js'
import { MAX_TEMPLATES, findTemplate, saveTemplate } from '../../../src/analysis/runs/template-operations.js'
import { useSqliteStore } from '../../support/service-store.js'

const open = useSqliteStore()
const actor = { user: 'ci', origin: 'api', nowMs: 1 } as const

test('templates have a bounded room: the oldest that no name leads to goes, and beyond that they are refused', async () => {
  const { writer, reader } = await open()
  const save = (name: string, nth: number): Promise<void> =>
    writer.run(saveTemplate, {
      template: { type: 'LOG', name, sha1: String(nth).padStart(40, '0'), body: '{}', createdMs: nth },
      mayReplace: false,
      actor,
    })
  await save('first', 0)
  await save('first', 1)
  for (let nth = 2; nth < MAX_TEMPLATES; nth += 1) await save(`t${nth}`, nth)
  await save('one more', MAX_TEMPLATES)
  const found = (name: string, nth: number) =>
    reader.run(findTemplate, { type: 'LOG', name, sha1: String(nth).padStart(40, '0') })
  expect(await found('first', 1)).toBeUndefined()
  expect(await found('first', 0)).toMatchObject({ isNamed: true })
  await expect(save('too many', MAX_TEMPLATES + 1)).rejects.toMatchObject({ code: 'too_many_templates' })
  await save('first', 0)
})

test.each(['regularExpression', 'index'])(
  'a log template whose %s no run could fill is refused',
  async (member) => {
    const { reader } = await open()
    const body = JSON.stringify({ templateName: 'shop', [member]: 'pod:${pod?upper_case}' })
    await expect(reader.run(checkTemplate, { type: 'LOG', body })).rejects.toThrow(
      `the log template: ${member} has \${pod?upper_case}: write`,
    )
  },
)
