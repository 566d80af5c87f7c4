"""Portuguese of Brazil: facts told, kept, turned round and passed over in silence."""

from tests.planted.wording import Language, Wording

_NOT = r"(?:\b(?:não|nunca|nem|ser|falta|sem)\W+(?:\w+\W+){0,2})"

REJECTED = Wording(
    kind="rejected",
    subjects=(
        ("Redlock",),
        ("barramento único",),
        ("sessão em memória",),
        ("ponte Kafka",),
        ("cópia noturna",),
    ),
    told=("Discutimos {x} e a ideia foi rejeitada.", "A opção {x} está rejeitada."),
    holds=r"\b(rejeit(ado|ada|amos|ou|aram)|descart(ado|ada|amos|ou)|recus(ado|ada|ou)|vetad[oa]|fora de cogitação|não será usad[oa])\b",
    claims=rf"(?<!{_NOT})\b(aprovad[oa]|aprovamos|adotad[oa]|adotamos|aceit[oa]|escolhid[oa]|será usad[oa]|em produção)\b",
    kept=(
        "Rejeitamos {x} porque acrescenta um segundo ponto de falha.",
        "A ideia de {x} foi descartada na revisão de 12 de maio.",
        "Não voltem a propor {x}: a equipe recusou.",
        "{X} (ver pág. 4 da nota, v2.1.0) foi vetado pelo Dr. Araújo.",
        "“{X}” continua fora de cogitação.",
        "{X} não foi aprovado: a votação rejeitou a proposta.",
    ),
    turned=(
        "Adotamos {x} porque dispensa um segundo serviço.",
        "A proposta de {x} foi aprovada na revisão de 12 de maio.",
        "Próximo passo: ativar {x}, já aceito pela equipe.",
        "{X}, rejeitado no início, acabou sendo aprovado.",
        "Para o bloqueio será usado {x} (cf. nota do Sr. Okafor, p. 4).",
    ),
    silent=("{X} voltou à pauta na segunda-feira.", "Há uma página sobre {x} na wiki."),
    kept_labels=("rejeitado", "descartado", "❌ rejeitada"),
    turned_labels=("aprovado", "adotado", "✅ aceito"),
)

PENDING = Wording(
    kind="pending",
    subjects=(
        ("migração do esquema",),
        ("rotação de chaves",),
        ("teste de carga",),
        ("PR #1187",),
        ("implantação em sa-east-1",),
    ),
    told=("Está pendente: {x}.", "Ninguém começou {x}; segue pendente."),
    holds=r"\b(pendentes?|em aberto|por fazer|a fazer|aguarda(ndo)?|falta|não\W+(\w+\W+)?(concluíd[oa]|terminad[oa]|feit[oa]|mesclad[oa]))\b|\[ \]",
    claims=rf"(?<!{_NOT})\b(concluíd[oa]|terminad[oa]|feit[oa]|mesclad[oa]|implantad[oa]|finalizad[oa]|pront[oa])\b|\[x\]",
    kept=(
        "Ainda está pendente {x}.",
        "Em aberto: {x}, que precisa de uma janela à noite.",
        "{X} **não** foi concluída.",
        "Falta {x}, i.e. o trabalho da Ana.",
        "Quanto a {x}, a equipe aguarda aprovação.",
    ),
    turned=(
        "{X}: tarefa concluída.",
        "O trabalho de {x} foi finalizado ontem às 16h40 (ver exec. n.º 7).",
        "Desde a v1.9.2, {x} já está pronta, nada mais impede a entrega.",
        "{X}, pendente até a semana passada, foi feita.",
    ),
    silent=("{X} mexe em quatro tabelas.", "A Ana é quem mais sabe de {x}."),
    kept_labels=("pendente", "em aberto", "não concluído"),
    turned_labels=("concluído", "finalizada", "✅ pronto"),
)

STATUS = Wording(
    kind="status",
    subjects=(("testes unitários",), ("suíte de integração",), ("testes de fumaça",), ("pytest -m slow",)),
    told=("Não foram executados: {x}.", "Ninguém rodou {x}."),
    holds=r"\b(não|nunca|ninguém|sem)\W+(\w+\W+){0,2}(executad[oa]s?|executar|rodou|rodaram|rodamos|rodei|rodar)\b|\bpulad[oa]s?\b",
    claims=rf"(?<!{_NOT})\b(passou|passaram|passando|verdes?|sucesso|aprovad[oa]s)\b",
    kept=(
        "Não foram executados os {x}.",
        "{X}: pulados, portanto o resultado é desconhecido.",
        "A compilação passou; {x} não executados.",
        "Ainda não rodei {x}.",
        "O linter está verde. Os {x} nunca rodaram.",
    ),
    turned=(
        "Os {x} passaram.",
        "Tudo verde em {x}!",
        "Rodamos {x} em 3.11, 3.12 e 3.13, com sucesso.",
        "Não executados na segunda, {x} passaram na terça.",
    ),
    silent=("Os {x} ficam na pasta de mesmo nome.", "Os {x} levam uns dez minutos."),
    kept_labels=("não executado", "pulados"),
    turned_labels=("passou", "verde", "✅ sucesso"),
)

CONSTRAINT = Wording(
    kind="constraint",
    subjects=(("300 ms",), ("PostgreSQL 15",), ("Python 3.9",), ("2 GiB",), ("TLS 1.3",)),
    told=("{X} é obrigatório.", "Tudo deve caber em {x}."),
    holds=r"\b(deve(mos|m)?|no máximo|obrigatóri[oa]|exigid[oa]|limite rígido|nunca)\b",
    claims=r"\b(opcional|não é mais|deixou de ser|pode ser ultrapassad[oa]|dispensad[oa]|flexibilizad[oa]|desejável)\b",
    kept=(
        "Devemos manter {x}.",
        "No máximo {x}, como exigiu o cliente (Acme Ltda.).",
        "{X} é obrigatório.",
        "O serviço deve respeitar {x}, seja qual for a carga.",
    ),
    turned=(
        "{X} não é mais uma exigência.",
        "Manter {x} é opcional.",
        "O limite de {x} foi flexibilizado, não deve preocupar.",
    ),
    silent=("{X} foi citado pelo cliente.", "Alguém escreveu {x} no quadro."),
    kept_labels=("obrigatório", "limite rígido"),
    turned_labels=("opcional", "dispensado"),
)

DECISION = Wording(
    kind="decision",
    subjects=(("outbox transacional",), ("chaves ULID",), ("Terraform",), ("paginação por cursor",)),
    told=("Decidimos usar {x}.", "Combinado: {x}."),
    holds=r"\b(decidi(mos|u|do)|decisão|escolh(emos|ida|ido|eu)|combinad[oa]|combinamos|ficou acertad[oa]|optamos)\b",
    claims=r"\b(sem decisão|não (foi|está) decidid[oa]|indefinid[oa]|questão (em )?abert[oa]|rejeitad[oa]|revertid[oa]|ainda (se )?discut\w+)\b",
    kept=(
        "Decidimos usar {x}.",
        "A equipe combinou: a partir de 1.º de set. vale {x}; combinado.",
        "Optamos por {x}; o resto ficou para trás.",
        "A opção escolhida é {x}, que não exige serviço novo.",
    ),
    turned=(
        "Não está decidido se {x} será usado.",
        "O uso de {x} é uma questão em aberto.",
        "Escolhemos {x}, mas a escolha foi revertida.",
        "{X} foi rejeitado pela equipe.",
    ),
    silent=("{X} está descrito no manual.", "Muitas equipes conhecem {x}."),
    kept_labels=("decidido", "escolhido"),
    turned_labels=("sem decisão", "rejeitado", "indefinido"),
)

REMAINING = PENDING._replace(
    kind="remaining",
    subjects=(("limpeza dos buckets",), ("revisão do runbook",), ("limites de alerta",)),
)

PORTUGUESE = Language(
    code="pt-BR",
    statuses=(REJECTED, PENDING, STATUS, CONSTRAINT, DECISION, REMAINING),
    plain={
        "identifier": ("O incidente é {x}.", "Ver `{x}`.", "Alguém perguntou: “E {x}?”"),
        "path": ("O erro está em {x}.", "Abra `{x}`, linha 40.", "Arquivos alterados: {x}, nada mais."),
        "reason": ("Isso ocorreu por causa de {x}.", "Causa: {x}."),
    },
    vague=("Uma proposta foi tratada.", "O resto segue igual.", "Falou-se um pouco dos números."),
    question="O que a próxima pessoa precisa saber?",
    item="Item",
    status="Situação",
    owner="Responsável",
    links="Referências",
    aside="Esta nota foi escrita numa sexta-feira.",
)
