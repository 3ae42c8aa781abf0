import { isRecord } from '../../lib/validation/record.js'
import { pathOfKey, printPackageName, questionOf } from '../../rego/index.js'
import type { Snapshot } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'
import type { Subject } from '../about/subject.js'

/** The exceptions in memory, for decisions. */
export class ExceptionBook {
  #all: readonly PolicyException[] = []
  /** Those that may apply, by package. */
  #byPackage: ReadonlyMap<string, readonly PolicyException[]> = new Map()

  get all(): readonly PolicyException[] {
    return this.#all
  }

  get isEmpty(): boolean {
    return this.#byPackage.size === 0
  }

  replace(all: readonly PolicyException[]): void {
    const byPackage = new Map<string, PolicyException[]>()
    for (const exception of all.filter(isApproved)) {
      const known = byPackage.get(exception.package)
      if (known === undefined) byPackage.set(exception.package, [exception])
      else known.push(exception)
    }
    this.#all = all
    this.#byPackage = byPackage
  }

  /** Returns the exception that excuses denials of a package, of several the one that ends last. */
  find(packageName: string, subject: Subject, nowMs: number): PolicyException | undefined {
    let found: PolicyException | undefined
    for (const exception of this.#byPackage.get(packageName) ?? []) {
      const isLater = exception.untilMs > Math.max(nowMs, found?.untilMs ?? 0)
      if (isLater && concerns(exception, subject)) found = exception
    }
    return found
  }
}

/** Whether an exception has the approval that it needs. */
export function isApproved({ needsApproval, approvedMs }: PolicyException): boolean {
  return !needsApproval || approvedMs !== undefined
}

/** Returns the names of the packages with a verdict, to which exceptions may refer. */
export function verdictPackages(snapshot: Snapshot): readonly string[] {
  return snapshot.packages
    .filter((key) => questionOf(snapshot, key).parts.length > 0)
    .map((key) => printPackageName(pathOfKey(key)))
}

function concerns({ application, pipeline }: PolicyException, subject: Subject): boolean {
  if (application === undefined) return true
  if (!subject.isOnlyAbout([application])) return false
  return pipeline === undefined || subject.isOnlyAboutPipeline(pipeline)
}

/** Options of the refinement by `hasApplication`, which reports its problem next to others. */
export const NEEDS_APPLICATION = {
  path: ['pipeline'],
  error: 'needs application, because names of pipelines are unique within an application only',
  when: ({ value }: { readonly value: unknown }): boolean => isRecord(value),
}

/** False for an exception that names a pipeline without its application. */
export function hasApplication({
  application,
  pipeline,
}: Partial<Pick<PolicyException, 'application' | 'pipeline'>>): boolean {
  return pipeline === undefined || application !== undefined
}
