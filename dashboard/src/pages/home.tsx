import { useQuery } from "@tanstack/react-query";
import { Redirect } from "wouter";
import { get, type Page } from "../api.ts";
import { PageLoading } from "../parts/page-loading.tsx";

/** Opens the quick start until the account has sent a message, and the overview from then on. */
export default function Home() {
  const { data, isError } = useQuery({
    queryKey: ["any message"],
    queryFn: ({ signal }) => get<Page<unknown>>("/api/messages", { limit: 1 }, signal),
  });
  if (isError) return <Redirect to="/start" replace />;
  if (!data) return <PageLoading />;
  return <Redirect to={data.data.length > 0 ? "/overview" : "/start"} replace />;
}
