import type { Extent } from '../json/extent.js'
import { isSecretName } from './secret-names.js'

/** Members that say what the value beside them is: environment variables, parameters, headers in a list. */
const LABELS: ReadonlySet<string> = new Set(['name', 'key'])
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'default', 'defaultValue'])
const KUBERNETES_VALUES: ReadonlySet<string> = new Set(['data', 'stringData'])

/** The members of one object that are secret because of what stands beside them: `{"name":"DB_PASSWORD","value":…}`. */
export class LabelledValues {
  private label: string | undefined
  private isKubernetesSecret = false
  private readonly values: Extent[] = []
  private readonly kubernetesValues: Extent[] = []

  /** Takes a member; `readText` gives its value as a text. */
  note(name: string, extent: Extent, readText: () => string): void {
    if (LABELS.has(name)) this.noteLabel(readText())
    else if (VALUES.has(name)) this.values.push(extent)
    else if (KUBERNETES_VALUES.has(name)) this.kubernetesValues.push(extent)
    else if (name === 'kind') this.isKubernetesSecret ||= readText() === 'Secret'
  }

  /** What must go, with the name that it goes by. */
  secrets(): { readonly name: string; readonly extent: Extent }[] {
    const { label, values, kubernetesValues } = this
    return [
      ...(label === undefined ? [] : values.map((extent) => ({ name: label, extent }))),
      ...(this.isKubernetesSecret ? kubernetesValues.map((extent) => ({ name: 'Secret', extent })) : []),
    ]
  }

  private noteLabel(text: string): void {
    if (isSecretName(text)) this.label = text
  }
}
