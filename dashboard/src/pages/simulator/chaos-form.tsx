import { Button, Group, Input, Paper, Slider, Stack, Switch, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconLeaf } from "@tabler/icons-react";
import { get, put } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CALM, KNOBS, type Chaos, type Knob } from "../../parts/chaos-knobs.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { useMay } from "../../session.tsx";

/** Faults of the simulated carrier. A change takes effect with the next message. */
export function ChaosForm() {
  const client = useQueryClient();
  const mayWrite = useMay("write");
  const { data, error } = useQuery({
    queryKey: ["chaos"],
    queryFn: ({ signal }) => get<Chaos>("/api/simulator/chaos", {}, signal),
  });
  const save = useMutation({
    mutationFn: (changes: Chaos) => put<Chaos>("/api/simulator/chaos", changes),
    onMutate: (changes) => client.setQueryData<Chaos>(["chaos"], (before) => ({ ...before, ...changes })),
    onSuccess: (chaos) => client.setQueryData(["chaos"], chaos),
    onError: () => void client.invalidateQueries({ queryKey: ["chaos"] }),
  });
  if (error) return <ErrorState error={error} title={t("Simulator cannot be loaded")} />;
  if (!data) return <PageLoading />;
  // Older servers lack some of these settings and omit them.
  const knobs = KNOBS.filter(({ name }) => name in data);
  const calm = Object.fromEntries(Object.entries(CALM).filter(([name]) => name in data));
  const isCalm = Object.entries(calm).every(([name, value]) => data[name] === value);
  return (
    <Paper component="section" aria-label={t("Chaos")}>
      <Group justify="space-between" mb="lg">
        <Title order={2} size="h4">
          {t("Chaos")}
        </Title>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconLeaf size={15} aria-hidden />}
          onClick={() => save.mutate(calm)}
          disabled={!mayWrite || isCalm}
        >
          {t("Reset")}
        </Button>
      </Group>
      <Stack gap="lg">
        {knobs.map((knob) => (
          <ChaosSlider
            key={knob.name}
            knob={knob}
            value={Number(data[knob.name])}
            disabled={!mayWrite}
            save={(value) => save.mutate({ [knob.name]: value })}
          />
        ))}
        <Switch
          label={t("Down")}
          description={t("Unreachable: messages wait or take the next route.")}
          checked={data.down === true}
          disabled={!mayWrite}
          onChange={({ currentTarget }) => save.mutate({ down: currentTarget.checked })}
        />
        {save.error && <ErrorState error={save.error} title={t("Not saved")} />}
        <CodeBlock
          heading={t("Terminal command")}
          code={curlOf({ method: "PUT", path: "/api/simulator/chaos", body: data })}
        />
      </Stack>
    </Paper>
  );
}

const NO_WRAP = { whiteSpace: "nowrap" } as const;

interface SliderProps {
  knob: Knob;
  value: number;
  disabled: boolean;
  save: (value: number) => void;
}

function ChaosSlider({ knob, value, disabled, save }: SliderProps) {
  const { label, hint, max, step, show } = knob;
  return (
    <Input.Wrapper label={label} description={hint} labelElement="div">
      <Group gap="md" wrap="nowrap" mt={6}>
        <Slider
          // An uncontrolled slider: the key resets it to a value that the server has changed.
          key={value}
          defaultValue={value}
          onChangeEnd={save}
          disabled={disabled}
          max={max}
          step={step}
          label={show}
          thumbLabel={label}
          flex={1}
        />
        <Text size="sm" miw={56} ta="right" fw={600} style={NO_WRAP}>
          {show(value)}
        </Text>
      </Group>
    </Input.Wrapper>
  );
}
