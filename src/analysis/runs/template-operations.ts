import { AppError } from '../../errors/app-error.js'
import type { StoredTemplate, TemplateType } from '../../store/ports/analysis-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { entryOf } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'

/** Whoever may send templates may send any number; each is as large as a body of a template may be. */
export const MAX_TEMPLATES = 1000

export interface TemplateKey {
  readonly type: TemplateType
  readonly name: string
  readonly sha1?: string | undefined
}

/** Finds a template. */
export const findTemplate: ReadOperation<TemplateKey, StoredTemplate | undefined> = {
  name: 'analysis.template',
  apply: ({ analysis }, { type, name, sha1 }) => analysis.template(type, name, sha1),
}

/** The names of all templates of a type, sorted. */
export const listTemplates: ReadOperation<TemplateType, readonly string[]> = {
  name: 'analysis.templates',
  apply: ({ analysis }, type) => analysis.templateNames(type),
}

export interface TemplateSaving {
  readonly template: Omit<StoredTemplate, 'isNamed'>
  /** Whether it becomes the one of its name where there is another. */
  readonly mayReplace: boolean
  readonly actor: Actor
}

/**
 * Keeps a template that registrations may name. One that may not replace is the template of its name only where there is none yet; else it is
 * found by its SHA-1 alone, so that nothing changes for whom the name is enough. Where there is no more room the oldest of these goes; raises
 * `conflict` where there is none.
 */
export const saveTemplate: WriteOperation<TemplateSaving, void> = {
  name: 'analysis.save-template',
  apply: async ({ analysis, audit }, { template, mayReplace, actor }) => {
    const { type, name, sha1 } = template
    const named = await analysis.findTemplate(type, name)
    const same = await analysis.findTemplate(type, name, sha1)
    if (!mayReplace && same !== undefined) return
    const isNamed = mayReplace || named === undefined
    if (same === undefined && (await analysis.countTemplates()) >= MAX_TEMPLATES) await removeOldest(analysis)
    await analysis.saveTemplate({ ...template, isNamed })
    await audit.append(
      entryOf('analysis.template-saved', undefined, actor, { type, name, sha1, byName: isNamed }),
    )
  },
}

/** A plan holds its templates itself, and who names one by its SHA-1 sends it again where it is not known. */
async function removeOldest(analysis: Transaction['analysis']): Promise<void> {
  if (await analysis.deleteOldestTemplate()) return
  throw new AppError(
    'conflict',
    `${MAX_TEMPLATES} templates are kept, and no more: delete those that no definition names`,
    { code: 'too_many_templates' },
  )
}

/** Forgets all templates of a name. Raises `not_found` where there is none. */
export const deleteTemplate: WriteOperation<
  { readonly type: TemplateType; readonly name: string; readonly actor: Actor },
  void
> = {
  name: 'analysis.delete-template',
  apply: async ({ analysis, audit }, { type, name, actor }) => {
    if (!(await analysis.deleteTemplates(type, name))) {
      throw new AppError('not_found', `there is no ${type === 'LOG' ? 'log' : 'metric'} template ${name}`)
    }
    await audit.append(entryOf('analysis.template-deleted', undefined, actor, { type, name }))
  },
}
