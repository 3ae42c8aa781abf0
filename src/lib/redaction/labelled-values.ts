import type { Extent } from '../json/scan/json-bytes.js'
import { isSecretUnder } from './secret-names.js'

/** Members that say what the value beside them is, in any letter case: environment variables, parameters, headers in a list, tags of a cloud. */
const LABELS: ReadonlySet<string> = new Set(['name', 'key'])
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'default', 'defaultvalue'])
const KUBERNETES_VALUES: ReadonlySet<string> = new Set(['data', 'stringData'])

/** What a member is to those beside it. */
export type LabelRole = 'label' | 'value' | 'kubernetesValue' | 'apiVersion' | 'kind'

/** What a member of this name is to those beside it, if anything. */
export function labelRole(name: string): LabelRole | undefined {
  const lowerCase = name.toLowerCase()
  if (LABELS.has(lowerCase)) return 'label'
  if (VALUES.has(lowerCase)) return 'value'
  if (KUBERNETES_VALUES.has(name)) return 'kubernetesValue'
  return name === 'apiVersion' || name === 'kind' ? name : undefined
}

/** The members of one object that are secret because of what is beside them: `{"name":"DB_PASSWORD","value":…}`. */
export class LabelledValues {
  private label: string | undefined
  private hasLabel = false
  private isKubernetesSecret = false
  private hasApiVersion = false
  private hasKind = false
  private readonly values: Extent[] = []
  private readonly kubernetesValues: Extent[] = []

  /** Takes a member; `text` is its value where that may name a secret. */
  note(role: LabelRole, extent: Extent, text: string): void {
    if (role === 'label') {
      this.hasLabel = true
      if (isSecretUnder(text, '')) this.label = text
    } else if (role === 'value') this.values.push(extent)
    else if (role === 'kubernetesValue') this.kubernetesValues.push(extent)
    else if (role === 'apiVersion') this.hasApiVersion = true
    else {
      this.hasKind = true
      this.isKubernetesSecret ||= text === 'Secret'
    }
  }

  /** What must go, with the name that it goes by; `isCut` says that the end of the object is missing. */
  secrets(isCut: boolean): { readonly name: string; readonly extent: Extent }[] {
    const { values, kubernetesValues } = this
    // What was cut off may have named them: lists sorted by name have `data` before `kind`, and `value` may be before `name`.
    const label = this.label ?? (isCut && !this.hasLabel ? '(cut off)' : undefined)
    const isSecret = this.isKubernetesSecret || (isCut && this.hasApiVersion && !this.hasKind)
    return [
      ...(label === undefined ? [] : values.map((extent) => ({ name: label, extent }))),
      ...(isSecret ? kubernetesValues.map((extent) => ({ name: 'Secret', extent })) : []),
    ]
  }
}
