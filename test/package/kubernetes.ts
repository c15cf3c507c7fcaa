/** Finds and runs the programs that render the Helm chart and kustomizations. */
import { parseAllDocuments } from 'yaml';
import { execFileSync, findProgram } from '../support/programs.ts';

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** Objects by kind and name, such as `Service/octavo`. */
export type KubernetesObjects = ReadonlyMap<string, KubernetesObject>;

/** Paths of the programs; empty if they are not installed. */
export const [helm, kubectl] = [findProgram('helm') ?? '', findProgram('kubectl') ?? ''];

export function readObjects(text: string): KubernetesObjects {
  const objects = parseAllDocuments(text).flatMap((each) => (each.toJS() as KubernetesObject | null) ?? []);
  return new Map(objects.map((each) => [`${each.kind}/${each.metadata.name}`, each]));
}

/** Returns the objects of a kustomization. */
export function kustomize(folder: string): KubernetesObjects {
  return readObjects(execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8' }));
}
