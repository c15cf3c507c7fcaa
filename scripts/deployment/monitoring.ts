/** Objects of the Prometheus Operator: what to scrape, and the alerts. */
import { ALERTS } from './alerts.ts';
import { SELECTOR_LABELS } from './pod.ts';
import { Expression, named, type Template, value } from './template.ts';

const OWN_LABELS = { 'app.kubernetes.io/name': 'octavo', 'app.kubernetes.io/instance': 'octavo' };
/** Labels of Octavo, and those by which the Prometheus Operator selects objects. */
const labels = new Expression((indent) => {
  const line = (text: string) => `\n${' '.repeat(indent)}${text}`;
  return [
    line('app.kubernetes.io/name: octavo'),
    line('app.kubernetes.io/instance: "{{ .Release.Name }}"'),
    line(`{{- with merge dict .Values.monitoring.labels .Values.labels }}{{ toYaml . | nindent ${indent} }}{{- end }}`),
  ].join('');
}, OWN_LABELS);

const metadata = { name: named(), labels };

/** Every replica is scraped: each exports the metrics of its own organizations. */
export const POD_MONITOR: Template = {
  ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor', metadata },
  spec: {
    selector: { matchLabels: SELECTOR_LABELS },
    podMetricsEndpoints: [{ port: 'http', path: '/metrics', interval: value('monitoring.interval') }],
  },
};

export const RULES: Template = {
  ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata },
  spec: {
    groups: [
      {
        name: 'octavo',
        rules: ALERTS.map(({ name, severity, expression, wait, summary }) => ({
          ...{ alert: name, expr: expression, for: wait, labels: { severity } },
          annotations: { summary: literal(summary) },
        })),
      },
    ],
  },
};

/** Text with braces of Prometheus, which Helm must not read as its own. */
function literal(text: string): Expression {
  return new Expression(`{{ \`${text}\` | quote }}`, text);
}
