import type { Extent } from '../json/extent.js'
import { isSecretName } from './secret-names.js'

/** Members that say what the value beside them is, in any letter case: environment variables, parameters, headers in a list, tags of a cloud. */
const LABELS: ReadonlySet<string> = new Set(['name', 'key'])
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'default', 'defaultvalue'])
const KUBERNETES_VALUES: ReadonlySet<string> = new Set(['data', 'stringData'])

/** The members of one object that are secret because of what stands beside them: `{"name":"DB_PASSWORD","value":…}`. */
export class LabelledValues {
  private label: string | undefined
  private hasLabel = false
  private isKubernetesSecret = false
  private hasApiVersion = false
  private hasKind = false
  private readonly values: Extent[] = []
  private readonly kubernetesValues: Extent[] = []

  /** Takes a member; `readText` gives its value as a text. */
  note(name: string, extent: Extent, readText: () => string): void {
    const lowerCase = name.toLowerCase()
    if (LABELS.has(lowerCase)) {
      this.hasLabel = true
      this.noteLabel(readText())
    } else if (VALUES.has(lowerCase)) this.values.push(extent)
    else if (KUBERNETES_VALUES.has(name)) this.kubernetesValues.push(extent)
    else if (name === 'apiVersion') this.hasApiVersion = true
    else if (name === 'kind') {
      this.hasKind = true
      this.isKubernetesSecret ||= readText() === 'Secret'
    }
  }

  /** What must go, with the name that it goes by; `isCut` says that the end of the object is missing. */
  secrets(isCut: boolean): { readonly name: string; readonly extent: Extent }[] {
    const { values, kubernetesValues } = this
    // What was cut off may have named them: lists sorted by name have `data` before `kind`, and `value` may stand before `name`.
    const label = this.label ?? (isCut && !this.hasLabel ? '(cut off)' : undefined)
    const isSecret = this.isKubernetesSecret || (isCut && this.hasApiVersion && !this.hasKind)
    return [
      ...(label === undefined ? [] : values.map((extent) => ({ name: label, extent }))),
      ...(isSecret ? kubernetesValues.map((extent) => ({ name: 'Secret', extent })) : []),
    ]
  }

  private noteLabel(text: string): void {
    if (isSecretName(text)) this.label = text
  }
}
