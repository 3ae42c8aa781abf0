import { AppError } from '../../errors/app-error.js'
import type { StoredTemplate, TemplateType } from '../../store/ports/analysis-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { entryOf } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'

/**
 * Maximum number of stored templates: clients may send any number, each as large as a template's
 * body may be.
 */
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
  /** Whether it replaces a template of the same name. */
  readonly mayReplace: boolean
  readonly actor: Actor
}

/**
 * Stores a template for registrations. A template that may not replace another one gets its name
 * only if the name is free; otherwise it is found by its SHA-1 only, so registrations by name do
 * not change. At the limit the oldest of these is deleted. Raises `conflict` if there is none.
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

/**
 * A plan contains its templates, and a client that names one by its SHA-1 sends it again if it is
 * not known.
 */
async function removeOldest(analysis: Transaction['analysis']): Promise<void> {
  if (await analysis.deleteOldestTemplate()) return
  throw new AppError(
    'conflict',
    `${MAX_TEMPLATES} templates are stored, which is the maximum: delete templates that no definition names`,
    { code: 'too_many_templates' },
  )
}

/** Deletes all templates of a name. Raises `not_found` if there is none. */
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
